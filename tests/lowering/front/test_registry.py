"""Every operator that is promised has a translation, and every translation a test against ONNX Runtime."""

from scanbuild.lowering.translate.registry import TRANSLATIONS

from .models import read as read_model
from .models import running_sum
from .test_elementwise import CASES as ELEMENTWISE
from .test_shaping import CASES as SHAPING
from .test_sums import CASES as SUMS

PROMISED = """
Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast
CastLike Ceil Celu Clip Concat Constant ConstantOfShape Cos Cosh CumSum Div Dropout Einsum Elu Equal Erf Exp Expand
EyeLike Flatten Floor Gather GatherElements Gelu Gemm Greater GreaterOrEqual HardSigmoid HardSwish Hardmax Identity
IsInf IsNaN LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax MatMul Max Mean Min Mish Mod Mul Neg Not Or
PRelu Pad Pow RMSNormalization Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice
Softmax Softplus Softsign Split Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile Transpose Trilu Unsqueeze
Where Xor
"""
ELSEWHERE = {"Constant", "ConstantOfShape", "Range"}
"""Tested with other operators around them, since they have no elements for inputs."""


def test_every_operator_that_is_promised_is_translated():
    read_model(running_sum())
    assert not set(PROMISED.split()) - {name for domain, name in TRANSLATIONS if not domain}


def test_every_translation_is_held_against_onnx_runtime():
    tried = {(item.domain, item.operator) for item in [*ELEMENTWISE, *SHAPING, *SUMS]}
    assert not set(TRANSLATIONS) - tried - {("", name) for name in ELSEWHERE}
