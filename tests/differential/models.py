"""Models of transformers, timm, torchvision, diffusers and torch_geometric with random weights, small enough to compile in seconds.

usage: models.py FOLDER NAME.MODE...
       models.py --list | --zoo N SEED

The modes are eval and train, with dynamic=True and two sizes; auto, training with three sizes that become dynamic by themselves; marked,
with the sizes marked dynamic that change; and program, for the programs of kinds.py. --list prints all in eval and train, and the programs;
--zoo names of zoo.py, N of each package, each in one of the modes, drawn with a seed.

This is the child process of models_torch.py. A model is a Python expression for it and one for its arguments, in which `i` is 0 for the first
call, 1 and 2 for the others, and b, n and s are a batch, a length and the side of an image that grow with it. Each model
runs in a process of its own that is forked from this one, which imports the packages once, and leaves a log in FOLDER/NAME.MODE and, where it
failed, the error in FOLDER/NAME.MODE.failed.
"""
import importlib.util
import os
import random
import resource
import signal
import sys

from kinds import PROGRAMS
import zoo

LIMIT = 200  # seconds of CPU for a model; its log is replayed as far as it got
WALL = 400   # seconds, for a model whose compile waits

# What a configuration of transformers calls the sizes of a model; those that it does not know are left out.
TINY = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64, vocab_size=99,
            max_position_embeddings=128, type_vocab_size=2, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_cache=False)


def text(name, config="", call="ids(b, n)", **changes):
    """A model of transformers of the text family and its calls."""
    return ("transformers", f"tf('{name}', '{config}', {changes!r})", call)


def seq2seq(name, **changes):
    return ("transformers", f"tf('{name}', '', {changes!r})", "dict(input_ids=ids(b, n), decoder_input_ids=ids(b, n - 4))")


def vision(name, config="", call="R(b, 3, 32, 32)", **changes):
    return ("transformers", f"tf('{name}', '{config}', {changes!r})", call)


def timm(name, call="R(b, 3, s, s)", **options):
    return ("timm", f"timm.create_model('{name}', num_classes=7, **{options!r})", call)


def tv(name, call="R(b, 3, s, s)", options="weights=None, num_classes=7"):
    return ("torchvision", f"torchvision.models.{name}({options})", call)


def diffusers(text, call):
    return ("diffusers", f"diffusers.{text}", call)


def geometric(text, call="(R(20 * b, 8), edges(20 * b, 30 * b))"):
    return ("torch_geometric", f"gnn.{text}", call)


ENCODER = dict(encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
               d_model=32, num_layers=2)
IMAGE = dict(image_size=32, patch_size=8)
STAGES = dict(hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], num_attention_heads=4)
UNET = ("sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, cross_attention_dim=24, attention_head_dim=4, "
        "down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'), up_block_types=('UpBlock2D', 'CrossAttnUpBlock2D')")
MODELS = {
    # Decoders of text.
    "llama": text("LlamaForCausalLM"), "mistral": text("MistralForCausalLM"), "qwen2": text("Qwen2ForCausalLM"),
    "qwen3": text("Qwen3ForCausalLM", head_dim=8), "gemma": text("GemmaForCausalLM", head_dim=8), "gemma2": text("Gemma2ForCausalLM", head_dim=8),
    "gemma3": text("Gemma3ForCausalLM", "Gemma3TextConfig", head_dim=8), "phi": text("PhiForCausalLM"), "phi3": text("Phi3ForCausalLM"),
    "gpt2": text("GPT2LMHeadModel"), "gpt_neo": text("GPTNeoForCausalLM", attention_types=[[["global", "local"], 1]], num_layers=2),
    "gpt_neox": text("GPTNeoXForCausalLM"), "gptj": text("GPTJForCausalLM", rotary_dim=4), "opt": text("OPTForCausalLM", ffn_dim=64, word_embed_proj_dim=32),
    "bloom": text("BloomForCausalLM"), "falcon": text("FalconForCausalLM"), "stablelm": text("StableLmForCausalLM"),
    "starcoder2": text("Starcoder2ForCausalLM"), "olmo2": text("Olmo2ForCausalLM"), "cohere": text("CohereForCausalLM"),
    "granite": text("GraniteForCausalLM"), "mixtral": text("MixtralForCausalLM", num_local_experts=4), "glm": text("GlmForCausalLM", head_dim=8),
    "qwen2_moe": text("Qwen2MoeForCausalLM", num_experts=4, moe_intermediate_size=32, shared_expert_intermediate_size=32, num_experts_per_tok=2),
    "deepseek_v3": text("DeepseekV3ForCausalLM", n_routed_experts=4, n_group=2, topk_group=1, num_experts_per_tok=2, moe_intermediate_size=32,
                        q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1,
                        num_key_value_heads=4),
    "mamba": text("MambaForCausalLM", state_size=8), "mamba2": text("Mamba2ForCausalLM", num_heads=8, head_dim=8, state_size=8, n_groups=2, chunk_size=16),
    "recurrent_gemma": text("RecurrentGemmaForCausalLM", lru_width=32, attention_window_size=16, block_types=["recurrent", "attention"]),
    "rwkv": text("RwkvForCausalLM", attention_hidden_size=32),
    # Encoders of text.
    "bert": text("BertForMaskedLM"), "roberta": text("RobertaModel"), "electra": text("ElectraModel", embedding_size=16), "albert": text("AlbertModel", embedding_size=16),
    "distilbert": text("DistilBertModel", dim=32, n_layers=2, n_heads=4, hidden_dim=64), "deberta_v2": text("DebertaV2Model", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "deberta": text("DebertaModel", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "mpnet": text("MPNetModel"), "modernbert": text("ModernBertModel", global_attn_every_n_layers=2, local_attention=8), "xlnet": text("XLNetModel", d_model=32, n_layer=2, n_head=4, d_inner=64),
    "convbert": text("ConvBertModel", embedding_size=16), "squeezebert": text("SqueezeBertModel", embedding_size=32), "fnet": text("FNetModel"),
    "longformer": text("LongformerModel", attention_window=[8, 8]), "big_bird": text("BigBirdModel", attention_type="original_full"), "funnel": text("FunnelModel", d_model=32, d_head=8, n_head=4, d_inner=64, block_sizes=[1, 1]),
    "jamba": text("JambaForCausalLM", num_experts=2, mamba_d_state=8, mamba_d_conv=4, attn_layer_period=2, attn_layer_offset=1, use_mamba_kernels=False), "mpt": text("MptForCausalLM", d_model=32, n_heads=4, n_layers=2, expansion_ratio=2),
    "vits": text("VitsModel", hidden_size=16, ffn_dim=16, flow_size=16, spectrogram_bins=16, upsample_initial_channel=16, upsample_rates=[2, 2], upsample_kernel_sizes=[4, 4], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]], num_attention_heads=2, prior_encoder_num_flows=1, posterior_encoder_num_wavenet_layers=1, prior_encoder_num_wavenet_layers=1, depth_separable_num_layers=1, duration_predictor_num_flows=1),
    "reformer": text("ReformerModel", attn_layers=["local", "lsh"], attention_head_size=8, axial_pos_embds_dim=[16, 16], axial_pos_shape=[8, 16], is_decoder=False, local_attn_chunk_length=8, lsh_attn_chunk_length=8, num_buckets=4, num_hashes=1, feed_forward_size=64),
    "biogpt": text("BioGptForCausalLM"), "codegen": text("CodeGenForCausalLM", n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=128), "persimmon": text("PersimmonForCausalLM"), "olmoe": text("OlmoeForCausalLM", num_experts=4, num_experts_per_tok=2),
    "nemotron": text("NemotronForCausalLM"), "ibert": text("IBertModel"), "roformer": text("RoFormerModel", embedding_size=32), "esm": text("EsmModel"), "layoutlm": text("LayoutLMModel"),
    "nystromformer": text("NystromformerModel", segment_means_seq_len=64, num_landmarks=8),
    # Encoders with decoders.
    "t5": seq2seq("T5Model", d_model=32, d_ff=64, d_kv=8, num_heads=4, num_layers=2), "bart": seq2seq("BartModel", **ENCODER), "pegasus": seq2seq("PegasusModel", **ENCODER),
    "marian": seq2seq("MarianModel", **ENCODER, decoder_start_token_id=0), "led": seq2seq("LEDModel", **ENCODER, attention_window=8), "prophetnet": seq2seq("ProphetNetModel", num_encoder_layers=2, num_decoder_layers=2, num_encoder_attention_heads=4, num_decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64),
    "whisper": text("WhisperModel", call="dict(input_features=R(b, 16, 64), decoder_input_ids=ids(b, n))", **ENCODER, num_mel_bins=16, max_source_positions=32, decoder_start_token_id=1),
    # Images and sound.
    "vit_hf": vision("ViTModel", **IMAGE), "deit_hf": vision("DeiTModel", **IMAGE), "beit_hf": vision("BeitModel", **IMAGE), "dinov2_hf": vision("Dinov2Model", call="R(b, 3, 8 * (3 + i), 32)", **IMAGE),
    "swin_hf": vision("SwinModel", call="R(b, 3, 32 + 16 * i, 32)", image_size=32, patch_size=2, window_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 4]),
    "maskformer_swin": vision("MaskFormerSwinModel", call="R(b, 3, 32 + 16 * i, 32)", image_size=32, patch_size=2, window_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 4]),
    "convnext_hf": vision("ConvNextModel", call="R(b, 3, s, s)", **STAGES), "segformer": vision("SegformerForSemanticSegmentation", call="R(b, 3, s, s)", hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16),
    "mobilevit_hf": vision("MobileViTModel", call="R(b, 3, s, s)", hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 32, 40], num_attention_heads=2),
    "clip": text("CLIPTextModel", "CLIPTextConfig"), "siglip": vision("SiglipVisionModel", "SiglipVisionConfig", **IMAGE), "poolformer": vision("PoolFormerModel", call="R(b, 3, s, s)", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "regnet_hf": vision("RegNetModel", call="R(b, 3, s, s)", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], groups_width=8),
    "wav2vec2": text("Wav2Vec2Model", call="R(b, 800 + 160 * i)", conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, mask_time_prob=0.0, mask_feature_prob=0.0),
    "hubert": text("HubertModel", call="R(b, 800 + 160 * i)", conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, mask_time_prob=0.0, mask_feature_prob=0.0),
    "glpn": vision("GLPNForDepthEstimation", call="R(b, 3, s, s)", hidden_sizes=[16, 24, 32, 40], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16),
    "ast": text("ASTModel", call="R(b, 64, 32)", max_length=64, num_mel_bins=32, patch_size=8, frequency_stride=8, time_stride=8),
    # timm.
    "resnet10t": timm("resnet10t"), "test_vit": timm("test_vit", dynamic_img_size=True), "test_byobnet": timm("test_byobnet"), "test_efficientnet": timm("test_efficientnet"), "test_resnet": timm("test_resnet"),
    "test_convnext": timm("test_convnext"), "test_nfnet": timm("test_nfnet"), "mobilevit_xxs": timm("mobilevit_xxs"), "mobilevitv2_050": timm("mobilevitv2_050"), "mobilenetv3_small_050": timm("mobilenetv3_small_050"),
    "mobilenetv4_conv_small": timm("mobilenetv4_conv_small"), "efficientvit_b0": timm("efficientvit_b0"), "edgenext_xx_small": timm("edgenext_xx_small"), "ghostnet_050": timm("ghostnet_050"), "tf_mixnet_s": timm("tf_mixnet_s"),
    "lcnet_035": timm("lcnet_035"), "regnetx_002": timm("regnetx_002"), "repvgg_a0": timm("repvgg_a0"), "skresnet18": timm("skresnet18"), "res2net50": timm("res2net50_26w_4s", layers=[1, 1, 1, 1]), "eca_botnext26ts": timm("eca_botnext26ts_256", "R(b, 3, 256, 256)"),
    "mixer_s32": timm("mixer_s32_224", "R(b, 3, 224, 224)"), "gmlp_ti16": timm("gmlp_ti16_224", "R(b, 3, 224, 224)"), "poolformer_s12": timm("poolformer_s12"), "pvt_v2_b0": timm("pvt_v2_b0"), "convmixer": timm("convmixer_768_32", depth=2, dim=32), "xcit_nano": timm("xcit_nano_12_p16_224", depth=2),
    "levit_128s": timm("levit_128s", "R(b, 3, 224, 224)"), "swin_tiny": timm("swin_tiny_patch4_window7_224", "R(b, 3, 112 * (1 + i), 112)", depths=(1, 1), num_heads=(2, 4), embed_dim=16, strict_img_size=False), "swinv2": timm("swinv2_cr_tiny_224", "R(b, 3, 224, 224)", depths=(1, 1), num_heads=(2, 4), embed_dim=16),
    "maxvit_rmlp_pico": timm("test_vit3", dynamic_img_size=True), "coat_lite": timm("coat_lite_tiny", "R(b, 3, 224, 224)"), "focalnet": timm("focalnet_tiny_srf", depths=(1, 1), embed_dim=16), "vovnet": timm("ese_vovnet19b_slim"), "hardcorenas": timm("hardcorenas_a"), "dla34": timm("dla34"),
    "inception_next": timm("inception_next_atto"), "fastvit_t8": timm("fastvit_t8"), "repghostnet": timm("repghostnet_050"), "starnet_s1": timm("starnet_s1"), "hgnetv2_b0": timm("hgnetv2_b0"), "tiny_vit_5m": timm("tiny_vit_5m_224", "R(b, 3, 224, 224)"), "davit": timm("davit_tiny", depths=(1, 1), embed_dims=(16, 32), num_heads=(2, 4)),
    "nest_tiny": timm("nest_tiny", "R(b, 3, 224, 224)"), "twins": timm("twins_svt_small", "R(b, 3, 224, 224)"), "sequencer2d_s": timm("sequencer2d_s", "R(b, 3, 224, 224)", layers=(1, 1, 1, 1)), "volo": timm("volo_d1_224", "R(b, 3, 224, 224)", layers=(1, 1, 1, 1)), "cait": timm("cait_xxs24_224", "R(b, 3, 224, 224)", depth=2),
    "naflex": timm("naflexvit_base_patch16_gap", depth=2, embed_dim=32, num_heads=4), "hrnet": timm("hrnet_w18_small"),
    "gcvit": timm("gcvit_xxtiny", "R(b, 3, 224, 224)"), "hiera": timm("hiera_tiny_224", "R(b, 3, 224, 224)", embed_dim=16, stages=(1, 1, 1, 1)),
    "crossvit": timm("crossvit_tiny_240", "R(b, 3, 240, 240)", depth=[[1, 1, 0]]), "visformer": timm("visformer_tiny", "R(b, 3, 224, 224)"), "efficientformerv2": timm("efficientformerv2_s0", "R(b, 3, 224, 224)"),
    "resnest": timm("resnest14d"), "dpn": timm("dpn48b"), "pit": timm("pit_ti_224", "R(b, 3, 224, 224)"), "mambaout": timm("mambaout_femto"), "rdnet": timm("rdnet_tiny"), "fasternet": timm("fasternet_t0"), "shvit": timm("shvit_s1", "R(b, 3, 224, 224)"), "tnt": timm("tnt_s_patch16_224", "R(b, 3, 224, 224)", depth=2),
    "rexnet_100": timm("rexnet_100"), "selecsls42": timm("selecsls42"), "nf_resnet26": timm("nf_resnet26"), "vgg11": timm("vgg11"),
    # torchvision.
    "resnet18_tv": tv("resnet18"), "shufflenet": tv("shufflenet_v2_x0_5"), "mobilenet_v2": tv("mobilenet_v2"), "squeezenet": tv("squeezenet1_1"), "densenet": tv("densenet121", options="weights=None, num_classes=7"), "googlenet": tv("googlenet", options="weights=None, num_classes=7, aux_logits=False, init_weights=False"), "mnasnet": tv("mnasnet0_5"),
    "efficientnet_tv": tv("efficientnet_b0"), "convnext_tv": tv("convnext_tiny"), "alexnet": tv("alexnet", call="R(b, 3, 96 + s, 96 + s)"), "vit_tv": tv("VisionTransformer", call="R(b, 3, 32, 32)", options="image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64"),
    "swin_tv": tv("SwinTransformer", options="patch_size=[4, 4], embed_dim=16, depths=[1, 1], num_heads=[2, 4], window_size=[7, 7]"), "maxvit_tv": tv("MaxVit", call="R(b, 3, 64, 64)", options="input_size=(64, 64), stem_channels=16, partition_size=4, block_channels=[16, 32], block_layers=[1, 1], head_dim=8, stochastic_depth_prob=0.1"),
    "deeplab": tv("segmentation.deeplabv3_mobilenet_v3_large", options="weights=None, weights_backbone=None, num_classes=7"), "lraspp": tv("segmentation.lraspp_mobilenet_v3_large", options="weights=None, weights_backbone=None, num_classes=7"), "fcn": tv("segmentation.fcn_resnet50", options="weights=None, weights_backbone=None, num_classes=7"),
    "r3d": tv("video.r3d_18", call="R(b, 3, 4 + i, 32, 32)"), "swin3d": tv("video.swin3d_t", call="R(1, 3, 4, 64, 64)"), "mvit": ("torchvision", "torchvision.models.video.mvit_v1_b(weights=None)", "R(b, 3, 16, 224, 224)"),
    "raft": tv("optical_flow.raft_small", call="(R(b, 3, 128 + 8 * i, 128), R(b, 3, 128 + 8 * i, 128))", options="weights=None, num_flow_updates=2"),
    "fasterrcnn": ("torchvision", "torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=160, box_score_thresh=0.0)", "detection(i)"),
    "retinanet": ("torchvision", "torchvision.models.detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=160)", "detection(i)"),
    "ssdlite": ("torchvision", "torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)", "detection(i)"),
    "fcos": ("torchvision", "torchvision.models.detection.fcos_resnet50_fpn(weights=None, weights_backbone=None, num_classes=5, min_size=96, max_size=160)", "detection(i)"),
    # diffusers.
    "unet2d": diffusers("UNet2DModel(sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, attention_head_dim=8, down_block_types=('DownBlock2D', 'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'))", "(R(b, 3, s // 4, s // 4), 3)"),
    "unet2d_condition": diffusers(f"UNet2DConditionModel({UNET})", "(R(b, 4, s // 4, s // 4), torch.tensor(3), R(b, 7 + i, 24))"),
    "controlnet": diffusers("ControlNetModel(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, cross_attention_dim=24, attention_head_dim=4, conditioning_embedding_out_channels=(8, 16), down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'))", "(R(b, 4, s // 4, s // 4), torch.tensor(3), R(b, 7 + i, 24), R(b, 3, s // 2, s // 2))"),
    "autoencoder_kl": diffusers("AutoencoderKL(block_out_channels=(16, 32), norm_num_groups=8, down_block_types=('DownEncoderBlock2D',) * 2, up_block_types=('UpDecoderBlock2D',) * 2)", "R(b, 3, s // 2, s // 2)"),
    "autoencoder_tiny": diffusers("AutoencoderTiny(encoder_block_out_channels=(8, 8, 8, 8), decoder_block_out_channels=(8, 8, 8, 8))", "R(b, 3, s, s)"),
    "vq": diffusers("VQModel(block_out_channels=(16, 32), norm_num_groups=8, num_vq_embeddings=24, down_block_types=('DownEncoderBlock2D',) * 2, up_block_types=('UpDecoderBlock2D',) * 2)", "R(b, 3, s // 4, s // 4)"),
    "dit": diffusers("DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=16, in_channels=4, num_layers=2, sample_size=16, num_embeds_ada_norm=10, norm_num_groups=8)", "(R(b, 4, 16, 16), ids(b), ids(b) % 10)"),
    "sd3": diffusers("SD3Transformer2DModel(sample_size=16, num_layers=2, attention_head_dim=8, num_attention_heads=4, joint_attention_dim=32, caption_projection_dim=32, pooled_projection_dim=16, pos_embed_max_size=16)", "(R(b, 16, 16 + 2 * i, 16), R(b, 9 + i, 32), R(b, 16), ids(b))"),
    "flux": diffusers("FluxTransformer2DModel(in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2, joint_attention_dim=32, pooled_projection_dim=16, axes_dims_rope=(4, 4, 8))", "dict(hidden_states=R(b, 16 + 4 * i, 16), encoder_hidden_states=R(b, 9 + i, 32), pooled_projections=R(b, 16), timestep=R(b), img_ids=R(16 + 4 * i, 3), txt_ids=R(9 + i, 3))"),
    "pixart": diffusers("PixArtTransformer2DModel(num_attention_heads=2, attention_head_dim=16, in_channels=4, out_channels=8, num_layers=2, cross_attention_dim=32, sample_size=16, caption_channels=24, norm_num_groups=8, use_additional_conditions=False)", "dict(hidden_states=R(b, 4, 16, 16), encoder_hidden_states=R(b, 9 + i, 24), timestep=ids(b), added_cond_kwargs=dict(resolution=None, aspect_ratio=None))"),
    "autoencoder_dc": diffusers("AutoencoderDC(encoder_block_out_channels=(8, 16), decoder_block_out_channels=(8, 16), encoder_layers_per_block=(1, 1), decoder_layers_per_block=(1, 1), encoder_block_types='ResBlock', decoder_block_types='ResBlock', latent_channels=4, encoder_qkv_multiscales=((), ()), decoder_qkv_multiscales=((), ()))", "R(b, 3, s // 2, s // 2)"),
    "oobleck": diffusers("AutoencoderOobleck(encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_channels=8, decoder_input_channels=4, audio_channels=2, channel_multiples=[1, 2])", "R(b, 2, 64 + 32 * i)"),
    "unet3d": diffusers("UNet3DConditionModel(sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, cross_attention_dim=24, attention_head_dim=4, down_block_types=('CrossAttnDownBlock3D', 'DownBlock3D'), up_block_types=('UpBlock3D', 'CrossAttnUpBlock3D'))", "(R(b, 4, 4, s // 4, s // 4), torch.tensor(3), R(b, 7 + i, 24))"),
    "autoencoder_ltx": diffusers("AutoencoderKLLTXVideo(latent_channels=8, block_out_channels=(8, 8, 8, 8), decoder_block_out_channels=(8, 8, 8, 8), layers_per_block=(1, 1, 1, 1, 1), decoder_layers_per_block=(1, 1, 1, 1, 1))", "R(1, 3, 9, 64, 64 + 32 * i)"),
    "wan_vae": diffusers("AutoencoderKLWan(base_dim=8, z_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1)", "R(1, 3, 5, 32, 32 + 16 * i)"),
    # torch_geometric.
    "gcn": geometric("GCN(8, 16, 2, 4)"), "gat": geometric("GAT(8, 16, 2, 4, heads=2)"), "gatv2": geometric("GAT(8, 16, 2, 4, v2=True)"), "gin": geometric("GIN(8, 16, 2, 4)"), "graphsage": geometric("GraphSAGE(8, 16, 2, 4)"),
    "pna": geometric("PNA(8, 16, 2, 4, aggregators=['mean', 'min', 'max', 'std'], scalers=['identity', 'amplification'], deg=torch.tensor([1, 4, 5, 3]))"), "edgecnn": geometric("EdgeCNN(8, 16, 2, 4)"),
    "transformer_conv": geometric("TransformerConv(8, 16, heads=2)"), "rgcn": geometric("RGCNConv(8, 16, 3)", "(R(20 * b, 8), edges(20 * b, 30 * b), torch.randint(0, 3, (30 * b,)))"), "cheb": geometric("ChebConv(8, 16, 3)"), "graph_conv": geometric("GraphConv(8, 16)"), "gine": geometric("GINEConv(torch.nn.Linear(8, 8))", "(R(20 * b, 8), edges(20 * b, 30 * b), R(30 * b, 8))"),
    "appnp": geometric("APPNP(3, 0.1)"), "sgc": geometric("SGConv(8, 16, 2)"), "feast": geometric("FeaStConv(8, 16, heads=2)"), "leconv": geometric("LEConv(8, 16)"), "gen": geometric("GENConv(8, 16)"), "pan": geometric("ResGatedGraphConv(8, 16)"),
    "gps": geometric("GPSConv(8, gnn.GINConv(torch.nn.Linear(8, 8)), heads=2)"), "supergat": geometric("SuperGATConv(8, 16, heads=2)"),
    "tag": geometric("TAGConv(8, 16)"), "gated": geometric("GatedGraphConv(16, 2)"), "mf": geometric("ARMAConv(8, 16)"), "film": geometric("FiLMConv(8, 16)"), "set2set": geometric("aggr.Set2Set(8, 2)", "(R(20 * b, 8), torch.arange(20 * b) // 10)"), "mlp": geometric("MLP([8, 16, 4])", "R(20 * b, 8)"), "jumping": geometric("GCN(8, 16, 3, 4, jk='lstm')"),
    # Written after the rules were fitted to those above.
    "mra": text("MraModel", call="ids(b, 32 + 32 * i)", approx_mode="full", block_per_row=2, initial_prior_first_n_blocks=0, initial_prior_diagonal_n_blocks=0),
    "wavlm": text("WavLMModel", call="R(b, 800 + 160 * i)", conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, num_feat_extract_layers=3),
    "sewd": text("SEWDModel", call="R(b, 800 + 160 * i)", squeeze_factor=2, conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, num_feat_extract_layers=3),
    "unispeech": text("UniSpeechSatModel", call="R(b, 800 + 160 * i)", conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, num_feat_extract_layers=3),
    "moonshine": text("MoonshineModel", call="dict(input_values=R(b, 4000 + 800 * i), decoder_input_ids=ids(b, n))", encoder_num_hidden_layers=2, decoder_num_hidden_layers=2, encoder_num_attention_heads=4, decoder_num_attention_heads=4),
    "canine": text("CanineModel", call="ids(b, 64 + 16 * i)", local_transformer_stride=16, num_hash_functions=2, num_hash_buckets=64),
    "ctrl": text("CTRLModel", n_embd=32, n_layer=2, n_head=4, dff=64, n_positions=128),
    "rembert": text("RemBertModel", input_embedding_size=16, output_embedding_size=16),
    "mobilebert": text("MobileBertModel", embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32, num_feedforward_networks=1),
    "longt5": seq2seq("LongT5Model", d_model=32, d_ff=64, d_kv=8, num_heads=4, num_layers=2, local_radius=7),
    "switch": seq2seq("SwitchTransformersModel", d_model=32, d_ff=64, d_kv=8, num_heads=4, num_layers=2, num_experts=4, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, expert_capacity=8),
    "umt5": seq2seq("UMT5Model", d_model=32, d_ff=64, d_kv=8, num_heads=4, num_layers=2),
    "patchtst": text("PatchTSTModel", call="R(b, 32, 3)", context_length=32, num_input_channels=3, patch_length=8, patch_stride=8, d_model=32, ffn_dim=64),
    "videomae": vision("VideoMAEModel", call="R(b, 4, 3, 32, 32)", num_frames=4, tubelet_size=2, **IMAGE),
    "cvt": vision("CvtModel", call="R(b, 3, s, s)", embed_dim=[16, 24, 32], num_heads=[1, 2, 2], depth=[1, 1, 1]),
    "swiftformer": vision("SwiftFormerModel", call="R(b, 3, s, s)", embed_dims=[16, 24, 32, 40], depths=[1, 1, 1, 1], image_size=32),
    "focalnet_hf": vision("FocalNetModel", call="R(b, 3, s, s)", image_size=32, patch_size=2, embed_dim=16, depths=[1, 1], hidden_sizes=[16, 32], focal_levels=[2, 2], focal_windows=[3, 3]),
    "dinov3c": vision("DINOv3ConvNextModel", call="R(b, 3, s, s)", **STAGES),
    "dinov3": vision("DINOv3ViTModel", call="R(b, 3, 32 + 8 * i, 32)", **IMAGE),
    "granitemoe": text("GraniteMoeForCausalLM", num_local_experts=4, num_experts_per_tok=2),
    "lfm2": text("Lfm2ForCausalLM", layer_types=["conv", "full_attention"], conv_L_cache=3),
    "diffllama": text("DiffLlamaForCausalLM"),
    "exaone4": text("Exaone4ForCausalLM"),
    "qwen3next": text("Qwen3NextForCausalLM", head_dim=8, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, shared_expert_intermediate_size=32, layer_types=["linear_attention", "full_attention"]),
    "gptoss": text("GptOssForCausalLM", head_dim=8, num_local_experts=4, num_experts_per_tok=2),
    "xlstm": text("xLSTMForCausalLM", embedding_dim=32, num_heads=4, num_blocks=2, chunk_size=8),
    "encodec": text("EncodecModel", call="R(b, 1, 640 + 320 * i)", num_filters=4, codebook_dim=16, hidden_size=16, upsampling_ratios=[4, 2], num_lstm_layers=1),
    "dac": text("DacModel", call="R(b, 1, 640 + 320 * i)", encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_hidden_size=16, n_codebooks=2, codebook_size=32, codebook_dim=4, upsampling_ratios=[4, 2], hidden_size=32),
    "gernet": timm("gernet_s"), "xception": timm("xception41"), "tresnet": timm("tresnet_m"), "ecaresnet": timm("ecaresnetlight"),
    "vitamin": timm("vitamin_small_224", "R(b, 3, 224, 224)"), "test_vit4": timm("test_vit4", dynamic_img_size=True), "bat": timm("bat_resnext26ts"), "halonet": timm("halonet26t", "R(b, 3, 256, 256)"), "lambda": timm("lambda_resnet26t", "R(b, 3, 256, 256)"),
    "inception3": tv("inception_v3", call="R(b, 3, 96 + s, 96 + s)", options="weights=None, num_classes=7, init_weights=False, aux_logits=False"), "fcn_tv": tv("segmentation.fcn_resnet50", options="weights=None, weights_backbone=None, num_classes=7"), "s3d": tv("video.s3d", call="R(1, 3, 16, 64, 64 + 32 * i)"),
    "prior": diffusers("PriorTransformer(num_attention_heads=2, attention_head_dim=8, num_layers=2, embedding_dim=16, num_embeddings=7, additional_embeddings=4)", "dict(hidden_states=R(b, 16), timestep=torch.tensor(3), proj_embedding=R(b, 16), encoder_hidden_states=R(b, 7, 16))"),
    "unet1d": diffusers("UNet1DModel(sample_size=64, block_out_channels=(8, 16), down_block_types=('DownBlock1D', 'AttnDownBlock1D'), up_block_types=('AttnUpBlock1D', 'UpBlock1D'), in_channels=4, out_channels=4, extra_in_channels=16, time_embedding_type='fourier')", "(R(b, 4, 64 + 32 * i), torch.tensor(3))"),
}


def tiny(name, config_name, changes):
    """A model of transformers: its configuration takes what TINY says and it knows, and `changes`."""
    import transformers
    cls = getattr(transformers, name)
    config = getattr(transformers, config_name) if config_name else cls.config_class
    names = getattr(config, "attribute_map", {})
    known = {*config().to_dict(), *names}
    return cls(config(**({k: v for k, v in TINY.items() if k in known and names.get(k) not in changes} | changes)))


def namespace(i):
    """What the expressions of MODELS can name."""
    import torch
    b, n, s = 2 + i, 24 + 8 * i, 64 + 32 * i

    def ids(*size):
        return torch.randint(3, 99, size)

    def edges(nodes, count):
        return torch.randint(0, nodes, (2, count))

    def detection(i):
        images = [torch.rand(3, 96 + 16 * i, 112), torch.rand(3, 100, 96 + 8 * i)]
        targets = [{"boxes": torch.tensor([[8.0, 8, 40, 48], [20, 30, 80, 90]]), "labels": torch.tensor([1, 2])} for _ in images]
        return (images, targets)
    return dict(torch=torch, R=torch.randn, i=i, b=b, n=n, s=s, tf=tiny, ids=ids, edges=edges, detection=detection)


def package_of(name):
    return name.split(":")[0] if ":" in name else MODELS[name][0]


def import_package(package):
    if package in ("torchvision", "timm", "transformers", "diffusers") and importlib.util.find_spec("torchvision"):
        from torchvision_ops import import_torchvision
        import_torchvision()
    __import__(package)


def packages(names):
    """Imports what the models come from."""
    for package in {package_of(n.rsplit(".", 1)[0]) for n in names if not n.endswith(".program")}:
        import_package(package)


def warm_up():
    """Compiles something, so that the processes of the models find the compiler imported."""
    import torch
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
    torch.compile(layer, backend="aot_eager", dynamic=True)(torch.randn(3, 4)).sum().backward()
    torch._dynamo.reset()


def make_of_zoo(name):
    package, name = name.split(":")
    _, model_of, arguments_of = zoo.PACKAGES[package]
    model = model_of(name)

    def arguments(i):
        found = arguments_of(model, namespace(i))
        return ((), found) if isinstance(found, dict) else ((found,), {})
    return model, arguments


def make(name):
    """A model, and a function of i that returns its arguments and keyword arguments."""
    if ":" in name:
        return make_of_zoo(name)
    package, model, call = MODELS[name]
    found = {package: __import__(package)}
    if package == "torch_geometric":
        import torch_geometric.nn
        found["gnn"] = torch_geometric.nn

    def arguments(i):
        args = eval(call, namespace(i))
        return ((), args) if isinstance(args, dict) else (args if isinstance(args, tuple) else (args,), {})
    return eval(model, namespace(0) | found), arguments


def tensors_of(result):
    """The floating-point tensors of a result that need gradients."""
    import torch
    from torch.utils import _pytree
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    return [t for t in _pytree.tree_leaves(result if not hasattr(result, "__dict__") or isinstance(result, torch.Tensor) else vars(result))
            if isinstance(t, torch.Tensor) and t.requires_grad and t.is_floating_point()]


def mark_dynamic(call, next_call):
    """Marks the sizes of a call's tensors that the next call changes."""
    import torch
    from torch.utils import _pytree
    for x, y in zip(_pytree.tree_leaves(call), _pytree.tree_leaves(next_call)):
        if isinstance(x, torch.Tensor):
            for dim in (d for d in range(x.dim()) if x.shape[d] != y.shape[d]):
                torch._dynamo.mark_dynamic(x, dim)


def compile_model(name, mode):
    import torch
    model, arguments = make(name)
    trains = mode in ("train", "auto")
    model = model.train(trains)
    detects = ":" not in name and MODELS[name][2].startswith("detection")
    compiled = torch.compile(model, backend="aot_eager", dynamic=True if mode in ("eval", "train") else None)
    for i in range(3 if mode == "auto" else 2):
        args, kwargs = arguments(i)
        if detects and mode == "eval":
            args = args[:1]
        if mode == "marked":
            mark_dynamic((args, kwargs), arguments(i + 1))
        if trains:
            sum(t.sum() for t in tensors_of(compiled(*args, **kwargs))).backward()
        else:
            with torch.no_grad():
                compiled(*args, **kwargs)


def child(name, mode, folder):
    import torch
    import torch._logging._internal as logging_internal
    from torch._logging import structured
    out = os.path.join(folder, f"{name}.{mode}")
    os.makedirs(out, exist_ok=True)
    handler = logging_internal.LOG_TRACE_HANDLER
    handler.root_dir = out
    # What the parent logged is in another file; file names of stacks are logged once a process.
    structured.INTERN_TABLE.clear()
    torch.manual_seed(0)
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    try:
        if mode == "program":
            PROGRAMS[name]()
        else:
            compile_model(name, mode)
    except Exception as e:
        with open(os.path.join(folder, f"{name}.{mode}.failed"), "w") as file:
            file.write(f"{type(e).__name__}: {str(e)[:2000]}\n")
        return 1
    return 0


def draw(n, seed):
    """N names of each package of zoo.py that can be imported, with a mode each."""
    rng = random.Random(seed)
    for package, (names_of, _, _) in zoo.PACKAGES.items():
        if importlib.util.find_spec(package):
            import_package(package)
            names = names_of()
            for name in rng.sample(names, min(n, len(names))):
                print(f"{package}:{name}.{rng.choice(['eval', 'train', 'auto', 'marked'])}")


def wait(pid):
    """Waits for a model's process, which is killed when its time is over."""
    def kill(*_):
        os.kill(pid, signal.SIGKILL)
    signal.signal(signal.SIGALRM, kill)
    signal.alarm(WALL)
    os.waitpid(pid, 0)
    signal.alarm(0)


def main():
    if sys.argv[1] == "--zoo":
        draw(int(sys.argv[2]), int(sys.argv[3]))
        return 0
    if sys.argv[1] == "--list":
        for name, (package, *_) in MODELS.items():
            if importlib.util.find_spec(package):
                print(f"{name}.eval\n{name}.train")
        print("\n".join(f"{name}.program" for name in PROGRAMS))
        return 0
    folder, names = sys.argv[1], sys.argv[2:]
    packages(names)
    warm_up()
    for name in names:
        pid = os.fork()
        if not pid:
            status = 1
            try:
                status = child(*name.rsplit(".", 1), folder)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        wait(pid)
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
