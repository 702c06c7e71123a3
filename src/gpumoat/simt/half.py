"""cuda.fp16: what each function computes, in double precision before one rounding to float16."""

HALF_BINARY = {
    "hadd": "({} + {})",
    "hsub": "({} - {})",
    "hmul": "({} * {})",
    "hdiv": "DIV({}, {})",
    "hmax": "MAX({}, {})",
    "hmin": "MIN({}, {})",
}
HALF_COMPARE = {"heq": "==", "hne": "!=", "hge": ">=", "hgt": ">", "hle": "<=", "hlt": "<"}
HALF_UNARY = {
    "hneg": "(-{})",
    "habs": "abs({})",
    "hsin": "M_sin({})",
    "hcos": "M_cos({})",
    "hlog": "M_log({})",
    "hlog2": "M_log2({})",
    "hlog10": "M_log10({})",
    "hexp": "M_exp({})",
    "hexp2": "PF(2.0, {})",
    "hexp10": "PF(10.0, {})",
    "hsqrt": "M_sqrt({})",
    "hrsqrt": "DIV(1.0, M_sqrt({}))",
    "hrcp": "DIV(1.0, {})",
    "hceil": "WHOLE(CEIL, {})",
    "hfloor": "WHOLE(FLOOR, {})",
    "htrunc": "WHOLE(TRUNC, {})",
    "hrint": "WHOLE(round, {})",
    "htanh": "TANH({})",
}
