// Lambdas, templates, virtual calls and two libraries of templates: the typical
// frames of C++.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <double-conversion/double-conversion.h>
#include <fmt/format.h>

struct Shape {
    virtual ~Shape() {}
    virtual double area() const = 0;
};

template <int N> struct Poly : Shape {
    double side[N];
    double area() const override
    {
        double sum = 0;
        for (double d : side)
            sum += d * d;
        return sum;
    }
};

template <class F> static auto twice(F f, int x)
{
    return f(f(x));
}

int main(int argc, char **argv)
{
    std::map<std::string, std::vector<int>> all;

    for (int i = 0; i < argc; i++)
        all[argv[i]].push_back(twice([&](int x) { return x * argc + i; }, i));
    for (auto &one : all) {
        std::sort(one.second.begin(), one.second.end());
        std::puts(fmt::format("{}: {} {:x}", one.first, one.second.size(),
                              one.second[0]).c_str());
    }

    double_conversion::StringToDoubleConverter reader(0, 0.0, 0.0, "inf", "nan");
    int length;
    Shape *shape = argc > 2 ? (Shape *) new Poly<3>() : new Poly<5>();

    std::printf("%f %f\n", reader.StringToDouble(argv[0], 4, &length),
                shape->area());
    delete shape;
}
