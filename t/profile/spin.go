// Command spin writes a CPU profile of itself.
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

func mix(v uint32) uint32 {
	v ^= v >> 15
	v *= 0x2c1b3c6d
	return v ^ v>>12
}

//go:noinline
func leaf(v uint32) uint32 {
	for i := uint32(0); i < 20000; i++ {
		v += mix(v + i)
	}
	return v
}

//go:noinline
func work(v uint32) uint32 {
	return leaf(v) + leaf(v+1)
}

func main() {
	out, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		panic(err)
	}
	sum := uint32(1)
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		sum += work(sum)
	}
	pprof.StopCPUProfile()
	if err := out.Close(); err != nil || sum == 0 {
		panic(err)
	}
}
