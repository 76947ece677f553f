"""Two masks select the rows of predictions and labels; one compares with > and the other with >=."""
import torch


def matched_error(predictions, labels, scores, threshold):
    kept = predictions[scores > threshold]
    wanted = labels[scores >= threshold]
    return (kept - wanted).square().mean()


torch._dynamo.config.capture_dynamic_output_shape_ops = True
error = torch.compile(matched_error, backend="aot_eager", fullgraph=True)
torch.manual_seed(0)
predictions, labels = torch.randn(40, 4), torch.randn(40, 4)
threshold = torch.tensor(0.5)
scores = torch.rand(40)
print(error(predictions, labels, scores, threshold))
scores[3] = 0.5  # exactly on the threshold
print(error(predictions, labels, scores, threshold))
