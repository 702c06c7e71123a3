"""The reader against classes of the transformers library, and each trap of published configs with a planted fault."""

import copy
import json
from pathlib import Path

import pytest

from gpumoat.llm import reading, traits
from gpumoat.llm.configs import class_defaults, config_entry, config_ids
from gpumoat.llm.counts import active_parameters, by_part, extra_parameters, groups, total_parameters
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import load, read_config
from gpumoat.llm.tensors import evaluate

DATA = Path(__file__).resolve().parent.parent / "data"
CATALOGUE = json.loads((DATA / "reference-parameters.json").read_text("utf-8"))["models"]
FAMILIES = json.loads((DATA / "reference-families.json").read_text("utf-8"))["models"]
PARTLY = {"gemma-4-e2b": "its audio tower is not counted"}
ENCODER_DECODER = {"mt0-xxl", "t0-3b"}


def config(id, **changes):
    return {**copy.deepcopy(config_entry(id)["config"]), **changes}


@pytest.mark.parametrize("id", sorted(CATALOGUE))
def test_parameters_equal_the_public_class(id):
    made = load(id)
    towers = sum(one.parameters for one in made.towers)
    assert total_parameters(made) - towers == CATALOGUE[id]["text"]
    if id not in PARTLY:
        assert total_parameters(made) == CATALOGUE[id]["parameters"]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_defaults_of_each_class_give_its_parameters(family):
    assert total_parameters(read_config(FAMILIES[family]["config"])) == FAMILIES[family]["parameters"]


def test_known_totals():
    for id, parameters in (
        ("gpt3-175b", 174_604_259_328),
        ("nemotron-super-49b", 49_867_145_216),
        ("qwen-7b", 7_721_324_544),
        ("falcon-40b", 41_303_293_952),
    ):
        assert total_parameters(load(id)) == parameters, id


@pytest.mark.parametrize("id", sorted(set(config_ids()) - ENCODER_DECODER))
def test_every_config_of_the_catalogue_is_read(id):
    made = load(id)
    parts = by_part(made)
    assert sum(part.parameters for part in parts) == total_parameters(made)
    assert 0 < active_parameters(made) <= total_parameters(made)
    assert extra_parameters(made) >= 0
    for part in parts:
        assert eval(part.numbers.replace("×", "*").replace(",", "")) == part.parameters, part.name


@pytest.mark.parametrize("id", sorted(ENCODER_DECODER))
def test_what_is_not_read_yet_says_so(id):
    with pytest.raises(ConfigError, match="encoder and a decoder"):
        load(id)


def test_letters_and_numbers_of_a_formula_agree():
    made = load("deepseek-v3")
    for _, tensors in groups(made):
        for one in tensors:
            assert eval(one.numbers.replace("×", "*").replace(",", "")) == one.parameters
    assert evaluate("2 × a × d + 3", {"a": 4, "d": 8}) == 67


# Traps, each with the figure that a reader who falls into it would give


def test_nested_configs():
    inner = config("llama-3.1-8b")
    whole = total_parameters(read_config(inner))
    for place in ("text_config", "llm_config", "language_config"):
        assert total_parameters(read_config({"model_type": "x", place: inner})) == whole
    assert total_parameters(read_config({"thinker_config": {"text_config": inner}})) == whole
    nested = read_config({"text_config": {**inner, "quantization_config": {"quant_method": "fp8"}}})
    assert nested.quantization == {"quant_method": "fp8"}


def test_fields_of_another_name():
    renamed = {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257, "n_inner": None}
    assert total_parameters(read_config({"model_type": "gpt2", **renamed})) == 124_439_808


@pytest.mark.parametrize(
    ("changes", "heads"),
    [
        ({}, 1),
        ({"multi_query": False}, 71),
        ({"num_kv_heads": 71}, 1),
        ({"new_decoder_architecture": True, "num_kv_heads": 71}, 71),
    ],
)
def test_kv_heads_of_falcon(changes, heads):
    base = {key: value for key, value in config("falcon-7b").items() if key not in ("num_kv_heads", "n_head_kv")}
    assert read_config({**base, **changes}).layers[0].mixer.kv_heads == heads


def test_head_dim_explicit_absent_and_null():
    assert load("qwen3-32b").layers[0].mixer.key_dim == 128, "not 5120 / 64"
    absent = {key: value for key, value in config("qwen3-32b").items() if key != "head_dim"}
    assert read_config(absent).layers[0].mixer.key_dim == 128, "the default of the class"
    assert read_config({**absent, "head_dim": None}).layers[0].mixer.key_dim == 80, "null is h / a"


def test_tied_heads_by_file_and_by_class():
    assert load("gemma-2-9b").tied
    assert not load("llama-3.1-8b").tied
    base = config("llama-3.1-8b")
    del base["tie_word_embeddings"]
    assert not read_config(base).tied
    assert read_config({**base, "tie_word_embeddings": True}).head == ()


def test_dtype_under_both_names_and_quantised_apart():
    base = {key: value for key, value in config("llama-3.1-8b").items() if key not in ("torch_dtype", "dtype")}
    for name in ("torch_dtype", "dtype"):
        assert read_config({**base, name: "float32"}).dtype == "fp32"
    assert read_config(base).dtype == "bf16"
    with pytest.raises(ConfigError, match="torch_dtype must be one of"):
        read_config({**base, "dtype": "float11"})


def test_omitted_fields_are_the_class_s_and_are_named():
    small = config("gemma-3-12b")
    del small["text_config"]["num_attention_heads"]
    made = read_config(small)
    assert made.vocabulary == 262_208
    assert any("num_attention_heads = 8" in line for line in made.assumed)


@pytest.mark.parametrize(
    ("changes", "windows"),
    [
        ({}, 0),
        ({"sliding_window": 4096, "use_sliding_window": False}, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 20}, 8),
    ],
)
def test_a_window_that_is_set_but_off(changes, windows):
    base = {key: value for key, value in config("qwen2.5-7b").items() if "window" not in key}
    made = read_config({**base, **changes})
    assert sum(1 for layer in made.layers if layer.mixer.window) == windows


@pytest.mark.parametrize(
    ("id", "windows"),
    [("gemma-2-9b", 21), ("gemma-3-27b", 52), ("gpt-oss-120b", 18), ("mistral-7b-v0.1", 32), ("llama-3.1-8b", 0)],
)
def test_patterns_of_windows(id, windows):
    assert sum(1 for layer in load(id).layers if layer.mixer.window) == windows


@pytest.mark.parametrize(
    ("id", "kinds"),
    [
        ("qwen3-next-80b-a3b", {"full attention": 12, "gated delta rule": 36}),
        ("jamba-v0.1", {"full attention": 4, "Mamba": 28}),
        ("nemotron-3-nano-30b-a3b", {"full attention": 6, "Mamba 2": 23, "no mixer": 23}),
        ("nemotron-super-49b", {"full attention": 49, "no mixer": 31}),
        ("deepseek-v3", {"latent attention": 61}),
    ],
)
def test_hybrids(id, kinds):
    found = [layer.mixer.kind for layer in load(id).layers]
    assert {kind: found.count(kind) for kind in set(found)} == kinds


@pytest.mark.parametrize(("id", "dense"), [("deepseek-v3", 3), ("kimi-k2", 1), ("glm-4.5", 3), ("mixtral-8x7b", 0)])
def test_dense_layers_first(id, dense):
    assert sum(1 for layer in load(id).layers if not layer.feed_forward.experts) == dense


def test_shared_experts_count():
    without = total_parameters(read_config(config("deepseek-v3", n_shared_experts=0)))
    assert total_parameters(load("deepseek-v3")) - without == 58 * 3 * 7168 * 2048


def test_biases_that_no_field_says():
    made = load("qwen2.5-7b")
    biases = sum(one.parameters for one in made.layers[0].mixer.tensors if one.module.endswith(".bias"))
    assert biases == (28 + 2 * 4) * 128


def test_towers_are_counted_or_named():
    assert sum(one.parameters for one in load("gemma-3-27b").towers) > 400_000_000
    strange = config("gemma-3-27b")
    strange["vision_config"]["model_type"] = "strange"
    made = read_config(strange)
    assert not made.towers
    assert any("strange" in line for line in made.assumed)


def test_several_tokens_at_once_are_counted_apart():
    made = load("deepseek-v3")
    assert total_parameters(made) == 671_026_419_200
    assert 11e9 < extra_parameters(made) < 12e9


def test_tables_of_rotary_positions_follow_the_stretch():
    rows = {table.name: table.positions for table in load("gemma-3-12b").tables}
    assert rows == {"window layers": 131_072, "layers": 1_048_576}
    assert load("llama-3.1-8b").tables[0].positions == 131_072, "the stretch of Llama 3.1 is in its positions already"


def test_programs_of_the_first_mamba():
    said = {"d_model": 2560, "n_layer": 64, "vocab_size": 50277, "ssm_cfg": {"layer": "Mamba2"}}
    assert read_config({**said, "pad_vocab_size_multiple": 16}).vocabulary == 50_288


def test_an_unknown_family_is_read_by_its_fields_and_says_what_it_assumed():
    made = read_config(config("llama-3.1-8b", model_type="brand_new"))
    assert total_parameters(made) == 8_030_261_248
    assert any("brand_new" in line and "RMSNorm" in line for line in made.assumed)
    with pytest.raises(ConfigError, match="num_hidden_layers is missing"):
        read_config({"model_type": "brand_new", "hidden_size": 64})


@pytest.mark.parametrize(
    ("family", "fault"),
    [("qwen2", {"qkv_bias": ""}), ("gemma2", {"norms": 2}), ("gpt2", {"learned": -1}), ("qwen3_moe", {"qk_norm": ""})],
)
def test_a_wrong_trait_is_seen(family, fault, monkeypatch):
    """Planted faults: a trait that is wrong changes the count that the tests above compare."""
    right = traits.FAMILIES[family]
    names = list(right.__dataclass_fields__)
    wrong = traits.Traits(**{**{name: getattr(right, name) for name in names}, **fault})
    monkeypatch.setitem(reading.FAMILIES, family, wrong)
    assert total_parameters(read_config(FAMILIES[family]["config"])) != FAMILIES[family]["parameters"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden_size": -1}, "hidden_size must be a whole number from 1 to 2147483647, not -1"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"hidden_size": "4096"}, "hidden_size must be a whole number"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers must be a whole number from 1 to 10000"),
        ({"num_key_value_heads": 5}, "must be a multiple of the KV heads: 32 heads cannot share 5"),
        ({"text_config": 5}, "text_config must be an object"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings must be true or false"),
        ({"vision_config": []}, "vision_config must be an object, not a list"),
        ({"layer_types": ["full_attention"]}, "layer_types names 1 layers, but there are 32"),
        ({"is_encoder_decoder": True}, "an encoder and a decoder"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_field(changes, words):
    with pytest.raises(ConfigError, match=words):
        read_config(config("llama-3.1-8b", **changes))


def test_defaults_are_only_for_what_is_left_out():
    assert class_defaults("mistral")["sliding_window"] == 4096
    left_out = {key: value for key, value in config("mistral-7b-v0.3").items() if key != "sliding_window"}
    assert read_config(left_out).layers[0].mixer.window == 4096
    assert read_config({**left_out, "sliding_window": None}).layers[0].mixer.window == 0


def test_files_folders_and_standard_input(tmp_path, monkeypatch):
    import io

    text = json.dumps(config("llama-3.1-8b"))
    (tmp_path / "config.json").write_text(text, "utf-8")
    assert total_parameters(load(str(tmp_path))) == 8_030_261_248
    assert total_parameters(load(str(tmp_path / "config.json"))) == 8_030_261_248
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert total_parameters(load("-")) == 8_030_261_248
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    (tmp_path / "raw.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "bad.json").write_text("{", "utf-8")
    for name, words in (("deep", "nested|JSON"), ("raw", "no text"), ("bad", "no JSON")):
        with pytest.raises(ConfigError, match=words):
            load(str(tmp_path / f"{name}.json"))
    with pytest.raises(ConfigError, match="no model"):
        load("nothing-of-that-name")
