//! Eight doubles at a time.
//!
//! Every processor works on the same eight lanes in the same order, and returns the same bits. AVX2 is detected at run time, and `pulp` holds the proof that it was. AVX-512 was measured and gains
//! nothing: memory sets the pace.

use std::sync::LazyLock;

/// The number of lanes.
pub(super) const LANES: usize = 8;

/// Eight doubles in memory, in one line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [f64; LANES]);

/// Arithmetic on eight doubles.
pub(super) trait Lanes: Copy {
    /// Eight doubles.
    type Vector: Copy;

    fn splat(self, a: f64) -> Self::Vector;
    fn load(self, a: &[f64; LANES]) -> Self::Vector;
    /// The conversion is exact.
    fn load_f32(self, a: &[f32; LANES]) -> Self::Vector;
    /// The conversion is exact.
    fn load_i8(self, a: &[i8; LANES]) -> Self::Vector;
    fn store(self, a: Self::Vector) -> Line;
    /// 1, 0 or -1 as a number is above, at or below zero, of either sign.
    fn sign(self, a: Self::Vector) -> Self::Vector;
    /// The nearest number in [-1, 1].
    fn clamp(self, a: Self::Vector) -> Self::Vector;
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a b + c` with one rounding.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The same of single numbers.
    fn mul_add_one(self, a: f64, b: f64, c: f64) -> f64;
    /// Asks for the cache line at `place` to be fetched. A hint: it changes no result.
    fn prefetch<T>(self, place: &T);
    /// The sum of the lanes: 0 + 4, 1 + 5, 2 + 6, 3 + 7, then evens, odds, both.
    fn sum(self, a: Self::Vector) -> f64;

    /// Knuth's TwoSum: the rounded sum and, exactly, what rounding lost.
    #[inline(always)]
    fn two_sum(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
        let sum = self.add(a, b);
        let b_part = self.sub(sum, a);
        let a_part = self.sub(sum, b_part);
        (sum, self.add(self.sub(a, a_part), self.sub(b, b_part)))
    }
}

/// How an entry of a design is stored.
pub(super) trait Entry: Copy + Send + Sync {
    const ZERO: Self;
    fn widen(self) -> f64;
    fn lanes<L: Lanes>(lanes: L, entries: &[Self; LANES]) -> L::Vector;
}

impl Entry for f64 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn lanes<L: Lanes>(lanes: L, entries: &[Self; LANES]) -> L::Vector {
        lanes.load(entries)
    }
}

impl Entry for f32 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn lanes<L: Lanes>(lanes: L, entries: &[Self; LANES]) -> L::Vector {
        lanes.load_f32(entries)
    }
}

impl Entry for i8 {
    const ZERO: Self = 0;
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn lanes<L: Lanes>(lanes: L, entries: &[Self; LANES]) -> L::Vector {
        lanes.load_i8(entries)
    }
}

/// A computation written once for every instruction set. `run` and all it calls must be `#[inline(always)]`.
pub(super) trait Kernel {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// An instruction set this processor has.
#[derive(Clone, Copy)]
pub(super) enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    Portable,
}

impl Level {
    /// All that this processor has, the best first.
    pub(super) fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        levels.extend(pulp::x86::V3::try_new().map(Self::Avx2));
        levels.push(Self::Portable);
        levels
    }

    /// The best this processor has.
    pub(super) fn best() -> Self {
        static BEST: LazyLock<Level> = LazyLock::new(|| Level::available()[0]);
        *BEST
    }

    /// Runs `kernel` compiled for this instruction set.
    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(lanes) => lanes.vectorize(On { kernel, lanes }),
            Self::Portable => kernel.run(Portable),
        }
    }
}

/// Plain arrays, for processors without AVX2.
#[derive(Clone, Copy)]
struct Portable;

impl Lanes for Portable {
    type Vector = [f64; LANES];

    #[inline(always)]
    fn splat(self, a: f64) -> Self::Vector {
        [a; LANES]
    }
    #[inline(always)]
    fn load(self, a: &[f64; LANES]) -> Self::Vector {
        *a
    }
    #[inline(always)]
    fn load_f32(self, a: &[f32; LANES]) -> Self::Vector {
        a.map(f64::from)
    }
    #[inline(always)]
    fn load_i8(self, a: &[i8; LANES]) -> Self::Vector {
        a.map(f64::from)
    }
    #[inline(always)]
    fn store(self, a: Self::Vector) -> Line {
        Line(a)
    }
    #[inline(always)]
    fn sign(self, a: Self::Vector) -> Self::Vector {
        a.map(|x| f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)))
    }
    #[inline(always)]
    fn clamp(self, a: Self::Vector) -> Self::Vector {
        a.map(|x| x.clamp(-1.0, 1.0))
    }
    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] + b[l])
    }
    #[inline(always)]
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] - b[l])
    }
    #[inline(always)]
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| a[l] * b[l])
    }
    #[inline(always)]
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        std::array::from_fn(|l| self.mul_add_one(a[l], b[l], c[l]))
    }
    #[inline(always)]
    fn mul_add_one(self, a: f64, b: f64, c: f64) -> f64 {
        // A slow library call where the processor has no such instruction, but the same bits.
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn prefetch<T>(self, _: &T) {}
    #[inline(always)]
    fn sum(self, a: Self::Vector) -> f64 {
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Kernel, LANES, Lanes, Line};
    use pulp::x86::V3;
    use pulp::{NullaryFnOnce, Simd, cast, f32x4, f64x4, i32x4};

    /// A kernel and the instruction set it runs on.
    pub(super) struct On<K, L> {
        pub(super) kernel: K,
        pub(super) lanes: L,
    }

    impl<K: Kernel, L: Lanes> NullaryFnOnce for On<K, L> {
        type Output = K::Output;
        #[inline(always)]
        fn call(self) -> K::Output {
            self.kernel.run(self.lanes)
        }
    }

    impl Lanes for V3 {
        type Vector = [f64x4; 2];

        #[inline(always)]
        fn splat(self, a: f64) -> Self::Vector {
            [self.splat_f64s(a); 2]
        }
        #[inline(always)]
        fn load(self, a: &[f64; LANES]) -> Self::Vector {
            cast(*a)
        }
        #[inline(always)]
        fn load_f32(self, a: &[f32; LANES]) -> Self::Vector {
            let [low, high] = cast::<_, [f32x4; 2]>(*a);
            [self.convert_f32x4_to_f64x4(low), self.convert_f32x4_to_f64x4(high)]
        }
        #[inline(always)]
        fn load_i8(self, a: &[i8; LANES]) -> Self::Vector {
            let mut bytes = [0_i8; 16];
            bytes[..LANES].copy_from_slice(a);
            let [low, high] = cast::<_, [i32x4; 2]>(self.convert_i8x16_to_i32x8(cast(bytes)));
            [self.convert_i32x4_to_f64x4(low), self.convert_i32x4_to_f64x4(high)]
        }
        #[inline(always)]
        fn store(self, a: Self::Vector) -> Line {
            Line(cast(a))
        }
        #[inline(always)]
        fn sign(self, a: Self::Vector) -> Self::Vector {
            let (zero, one) = (self.splat_f64s(0.0), self.splat_f64s(1.0));
            let mut out = a;
            for (out, a) in out.iter_mut().zip(a) {
                let above = self.select_f64x4(self.cmp_lt_f64x4(zero, a), one, zero);
                let below = self.select_f64x4(self.cmp_lt_f64x4(a, zero), one, zero);
                *out = self.sub_f64s(above, below);
            }
            out
        }
        #[inline(always)]
        fn clamp(self, a: Self::Vector) -> Self::Vector {
            let (least, most) = (self.splat_f64s(-1.0), self.splat_f64s(1.0));
            let mut out = a;
            for out in &mut out {
                *out = self.min_f64s(self.max_f64s(*out, least), most);
            }
            out
        }
        #[inline(always)]
        fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            [self.add_f64s(a[0], b[0]), self.add_f64s(a[1], b[1])]
        }
        #[inline(always)]
        fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            [self.sub_f64s(a[0], b[0]), self.sub_f64s(a[1], b[1])]
        }
        #[inline(always)]
        fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
            [self.mul_f64s(a[0], b[0]), self.mul_f64s(a[1], b[1])]
        }
        #[inline(always)]
        fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
            [self.mul_add_f64s(a[0], b[0], c[0]), self.mul_add_f64s(a[1], b[1], c[1])]
        }
        #[inline(always)]
        fn mul_add_one(self, a: f64, b: f64, c: f64) -> f64 {
            // One instruction: kernels are compiled for a processor that has it.
            a.mul_add(b, c)
        }
        #[inline(always)]
        fn prefetch<T>(self, place: &T) {
            self.sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(place).cast());
        }
        #[inline(always)]
        fn sum(self, a: Self::Vector) -> f64 {
            let half = self.add_f64s(a[0], a[1]);
            (half.0 + half.2) + (half.1 + half.3)
        }
    }
}

#[cfg(target_arch = "x86_64")]
use x86_64::On;
