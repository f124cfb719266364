"""Comparison, logic, bits, and tests of floats, element by element. None has a gradient."""

from __future__ import annotations

from deepgraph.ops.rules import binary, unary

equal = binary("equal", "Whether two are equal; nan equals nothing.", c="dg_equal({0}, {1})")
not_equal = binary(
    "not_equal", "Whether two differ; nan differs from all.", c="dg_not_equal({0}, {1})"
)  # fmt: skip
less = binary("less", "Whether the first is below the second.", c="dg_less({0}, {1})")
less_equal = binary(
    "less_equal", "Whether the first is not above the second.", c="dg_less_equal({0}, {1})"
)  # fmt: skip
greater = binary("greater", "Whether the first is above the second.", c="dg_greater({0}, {1})")
greater_equal = binary(
    "greater_equal", "Whether the first is not below the second.", c="dg_greater_equal({0}, {1})"
)  # fmt: skip

# Logic takes any dtype: what is not 0 is true, nan too.

logical_and = binary("logical_and", "Whether both are true.", c="{0} && {1}")
logical_or = binary("logical_or", "Whether one is true or both are.", c="{0} || {1}")
logical_xor = binary("logical_xor", "Whether one is true and the other not.", c="!{0} != !{1}")
logical_not = unary("logical_not", "Whether it is not true.", c="!{0}")

bitwise_and = binary("bitwise_and", "The bits set in both; of booleans, `and`.", c="{0} & {1}")
bitwise_or = binary("bitwise_or", "The bits set in either; of booleans, `or`.", c="{0} | {1}")
bitwise_xor = binary("bitwise_xor", "The bits set in one only; of booleans, `!=`.", c="{0} ^ {1}")
bitwise_invert = unary(
    "bitwise_invert", "The bits not set; of booleans, `not`.", ufunc="invert",
    aliases=("invert", "bitwise_not"), c="dg_invert({0})",
)  # fmt: skip
bitwise_left_shift = binary(
    "bitwise_left_shift", "The bits moved up; 0 once all are out.", ufunc="left_shift",
    aliases=("left_shift",), c="dg_shl({0}, {1})", low=0,
)  # fmt: skip
bitwise_right_shift = binary(
    "bitwise_right_shift", "The bits moved down, keeping the sign.", ufunc="right_shift",
    aliases=("right_shift",), c="dg_shr({0}, {1})", low=0,
)  # fmt: skip

# Integers are finite and no nan.

isnan = unary("isnan", "Whether it is not a number.", c="dg_isnan({0})")
isfinite = unary("isfinite", "Whether it is neither infinite nor nan.", c="dg_isfinite({0})")
isinf = unary("isinf", "Whether it is infinite.", c="dg_isinf({0})")
signbit = unary(
    "signbit", "Whether the sign is set; of -0.0 and of -nan it is.", c="dg_signbit({0})"
)  # fmt: skip
