"""Models of transformers, timm and torchvision by their names in these packages, made small where their configuration allows it.

A name is PACKAGE:NAME, such as transformers:BertModel. The fields of a configuration of transformers are shrunk by what they are called, and
the inputs are made by what forward() needs. Many configurations do not survive that: such a model fails before anything is compiled, and is
no candidate. So is a model of more than LARGEST parameters.
"""
import inspect

LARGEST = 60_000_000

# Fields of configurations by a part of their name, and the most that they become; the first that fits counts.
SHRUNK = [("vocab_size", 99), ("num_key_value_heads", 2), ("heads", 4), ("layers", 2), ("num_blocks", 2), ("head_dim", 8),
          ("intermediate_size", 64), ("ffn", 64), ("d_ff", 64), ("d_kv", 8), ("hidden_size", 32), ("d_model", 32), ("embedding_size", 32),
          ("hidden_dim", 32), ("embed_dim", 32), ("experts_per_tok", 2), ("experts", 4), ("image_size", 32), ("patch_size", 8),
          ("max_position_embeddings", 128), ("n_embd", 32), ("n_layer", 2), ("n_head", 4), ("rank", 8), ("projection_dim", 16),
          ("state_size", 8)]
TOKENS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, use_cache=False)

# What a parameter of forward() is given, in the names of namespace() of models.py and those of sizes_of().
GIVEN = {
    "input_ids": "ids(b, n)", "decoder_input_ids": "ids(b, n - 4)", "attention_mask": "torch.ones(b, n, dtype=torch.long)",
    "pixel_values": "R(b, channels, image, image)", "input_features": "R(b, mels, 64)", "input_values": "R(b, 800 + 160 * i)",
    "bbox": "torch.zeros(b, n, 4, dtype=torch.long)", "inputs_embeds": "R(b, n, 32)", "hidden_states": "R(b, n, 32)",
}

# Models of torchvision that need other arguments than an image, or other packages.
OTHER_CALLS = ("rcnn", "ssd", "retina", "fcos", "raft", "quantized")


class TooLarge(Exception):
    pass


def made_small(make):
    """make(), unless it makes more than LARGEST parameters, which are counted without memory for them."""
    import torch
    with torch.device("meta"):
        count = sum(p.numel() for p in make().parameters())
    if count > LARGEST:
        raise TooLarge(f"{count} parameters")
    return make()


# --- transformers ---

def shrunk(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return value
    return next((min(value, most) for part, most in SHRUNK if part in name), value)


def small_configuration(cls):
    fields, known = cls().to_dict(), inspect.signature(cls.__init__).parameters
    parts = getattr(cls, "sub_configs", {})
    changes = {k: shrunk(k, v) for k, v in fields.items() if k in known and k not in parts}
    changes |= {k: v for k, v in TOKENS.items() if k in fields}
    changes |= {k: small_configuration(part) for k, part in parts.items() if k in fields and getattr(part, "model_type", "")}
    return cls(**{k: v for k, v in changes.items() if v is not None})


def transformers_names():
    from transformers.models.auto import modeling_auto
    found = set()
    for mapping in (modeling_auto.MODEL_MAPPING_NAMES, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        for names in mapping.values():
            found |= {names} if isinstance(names, str) else set(names)
    return sorted(found)


def transformers_model(name):
    import transformers
    cls = getattr(transformers, name)
    config = small_configuration(cls.config_class)
    return made_small(lambda: cls(config))


def needed_parameters(model):
    forward = inspect.signature(model.forward).parameters
    needed = {k for k, p in forward.items() if p.default is inspect.Parameter.empty and p.kind == p.POSITIONAL_OR_KEYWORD}
    needed |= {model.main_input_name}
    if model.config.is_encoder_decoder:
        needed |= {"decoder_input_ids"} & set(forward)
    elif model.main_input_name == "input_ids":
        needed |= {"attention_mask"} & set(forward)
    if hasattr(model.config, "vision_config") and hasattr(model.config, "text_config"):
        needed |= {"input_ids", "pixel_values"} & set(forward)
    return needed


def first_number(config, names, default):
    found = next((x for x in (getattr(config, n, None) for n in names) if isinstance(x, (int, list, tuple))), default)
    return found if isinstance(found, int) else found[0]


def sizes_of(config):
    vision = getattr(config, "vision_config", config)
    return dict(channels=first_number(vision, ("num_channels", "in_channels"), 3), image=first_number(vision, ("image_size",), 64),
                mels=first_number(config, ("num_mel_bins",), 80))


def transformers_arguments(model, namespace):
    return {name: eval(GIVEN[name], namespace | sizes_of(model.config)) for name in needed_parameters(model)}


# --- timm ---

def timm_names():
    import timm
    return timm.list_models()


def timm_model(name):
    import timm
    return made_small(lambda: timm.create_model(name, num_classes=7))


def timm_arguments(model, namespace):
    config = model.default_cfg
    channels, *size = config["input_size"]
    if not config.get("fixed_input_size"):
        size = [namespace["s"] + 32] * 2
    return namespace["R"](namespace["b"], channels, *size)


# --- torchvision ---

def torchvision_names():
    import torchvision
    return [n for n in torchvision.models.list_models() if not any(part in n for part in OTHER_CALLS)]


def torchvision_model(name):
    import torchvision
    segments = any(part in name for part in ("fcn", "deeplab", "lraspp"))
    options = {"weights_backbone": None} if segments else {}
    return made_small(lambda: torchvision.models.get_model(name, weights=None, **options))


def torchvision_arguments(model, namespace):
    import torch
    if any(isinstance(m, torch.nn.Conv3d) for m in model.modules()):
        return namespace["R"](namespace["b"], 3, 16, 112, 112)
    side = getattr(model, "image_size", None) or namespace["s"] + 64
    return namespace["R"](namespace["b"], 3, side, side)


# Of each package: its names, a model by its name, the model's arguments in a namespace of models.py.
PACKAGES = {"transformers": (transformers_names, transformers_model, transformers_arguments),
            "timm": (timm_names, timm_model, timm_arguments),
            "torchvision": (torchvision_names, torchvision_model, torchvision_arguments)}
