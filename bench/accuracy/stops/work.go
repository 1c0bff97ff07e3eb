// work.go - Go: goroutines whose stacks move, maps, interfaces.
package main

import (
	"fmt"
	"sort"
)

//go:noinline
func deep(n int, f func(int) int) int {
	var room [64]byte
	if n == 0 {
		return f(n)
	}
	return deep(n-1, f) + int(room[n%64])
}

func work(id int) int {
	m := map[string]int{}
	for i := 0; i < 50; i++ {
		m[fmt.Sprint(i*id)] = i
	}
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return len(keys)
}

func main() {
	done := make(chan int)
	for id := 1; id < 5; id++ {
		go func(id int) {
			for {
				done <- deep(id*20, func(n int) int { return work(n + id) })
			}
		}(id)
	}
	for range done {
	}
}
