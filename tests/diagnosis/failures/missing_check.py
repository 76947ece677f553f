"""A dynamic crop: the number of rows is computed from data, and a view of fixed width follows."""
import torch

torch._dynamo.config.capture_scalar_outputs = True


def crop_tiles(image, box):
    rows = box[0].item()
    columns = box[1].item()
    crop = image.narrow(0, 0, rows).narrow(1, 0, columns)
    tiles = crop.reshape(-1)[: 16 * (rows * columns // 16)]
    if rows * columns >= 32:
        tiles = tiles - tiles.mean()
    return tiles.reshape(-1, 16)


compiled = torch.compile(crop_tiles, backend="aot_eager", fullgraph=True)
print(compiled(torch.randn(64, 64), torch.tensor([16, 24])).shape)
