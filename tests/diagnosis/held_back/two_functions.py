"""An encoder and a decoder are compiled apart; texts and answers have other lengths in each step."""
import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(16, 48), nn.GELU(), nn.Linear(48, 16), nn.LayerNorm(16))
decoder = nn.Sequential(nn.Linear(16, 48), nn.Tanh(), nn.Linear(48, 8))


def encode(text):
    return encoder(text) + text.mean(0)


def decode(memory, answer):
    scores = (answer @ memory.T).softmax(-1)
    return decoder(answer + scores @ memory)


encode_fast = torch.compile(encode, backend="aot_eager")
decode_fast = torch.compile(decode, backend="aot_eager")
with torch.no_grad():
    for n, m in ((20, 9), (26, 13), (33, 7), (14, 11)):
        text, answer = torch.randn(n, 16), torch.randn(m, 16)
        memory = encode_fast(text)
        out = decode_fast(memory, answer)
print(out.shape)
