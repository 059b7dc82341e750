// Factors of a wide range: significand * 2^exponent. Products of many factors leave the range of f32 long before what
// they are multiplied with does, and an infinity or a zero that no single step has would become NaN or be lost.
// Significands of products are in [1, 2) or their negatives, but for zero, infinities and NaN, which stay what they are.
fn wide_is_special(value: f32) -> bool {
  let field = (bitcast<u32>(value) >> 23u) & 0xffu;
  return field == 0u || field == 0xffu;
}

fn wide_significand(value: f32) -> f32 {
  let scaled = bitcast<f32>((bitcast<u32>(value) & 0x807fffffu) | 0x3f800000u);
  return select(scaled, value, wide_is_special(value));
}

// The exponents add up without end, so they are held at a bound far beyond what any f32 can make up for.
fn wide_exponent(value: f32, exponent: i32) -> i32 {
  let own = i32((bitcast<u32>(value) >> 23u) & 0xffu) - 127;
  return clamp(exponent + select(own, 0, wide_is_special(value)), -0x10000000, 0x10000000);
}

fn wide_power(exponent: i32) -> f32 {
  return bitcast<f32>(u32(exponent + 127) << 23u);
}

// significand * 2^exponent * value + term, in an order in which nothing overflows that the result does not.
fn wide_apply(significand: f32, exponent: i32, value: f32, term: f32) -> f32 {
  let first = clamp(exponent, -126, 127);
  let rest = clamp(exponent - first, -126, 127);
  return fma((value * wide_power(first)) * significand, wide_power(rest), term);
}
