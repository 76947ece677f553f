"""torchvision's operators, written in Python, for a torchvision whose library of operators does not load.

Its wheels need the libraries of CUDA, and `import torchvision` fails where an operator that it registers a fake kernel for does not exist.
import_torchvision() defines the operators that its detection models call, and imports it.
"""
import importlib

import torch

SCHEMAS = [
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, int rois_zero_point, float spatial_scale, "
    "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, "
    "SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor",
    "ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
    "_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    "roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    "_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    "ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
    "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
    "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
]


def nms(dets, scores, iou_threshold):
    """The boxes that are left, best first: a box goes that overlaps a better one by more than the threshold."""
    order = scores.sort(descending=True, stable=True).indices
    area = (dets[:, 2] - dets[:, 0]) * (dets[:, 3] - dets[:, 1])
    kept, gone = [], torch.zeros(len(order), dtype=torch.bool)
    for i in range(len(order)):
        if gone[i]:
            continue
        box, rest = order[i], order[i:]
        kept.append(box)
        low, high = torch.maximum(dets[box, :2], dets[rest, :2]), torch.minimum(dets[box, 2:], dets[rest, 2:])
        shared = (high - low).clamp(min=0).prod(1)
        gone[i:] |= shared / (area[box] + area[rest] - shared) > iou_threshold
    return torch.stack(kept) if kept else order


def define():
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in SCHEMAS:
        library.define(schema)
    library.impl("nms", nms, "CPU")
    return library


def import_torchvision():
    try:
        return importlib.import_module("torchvision")
    except RuntimeError:
        keep = define()
    torchvision = importlib.import_module("torchvision")
    torchvision.kept_library = keep
    return torchvision
