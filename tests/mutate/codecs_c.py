"""zstd and XXH3 of the libraries that symtape itself is built with (Python 3.11 has neither)."""
import ctypes
import ctypes.util
import gzip


def load(name):
    found = ctypes.util.find_library(name)
    if not found:
        raise SystemExit(f"lib{name} is not here; .ci/packages names what has it")
    return ctypes.CDLL(found)


ZSTD, XXHASH = load("zstd"), load("xxhash")
SIZE = ctypes.c_size_t
for _name, _ret, _args in (
        ("ZSTD_createCCtx", ctypes.c_void_p, []),
        ("ZSTD_freeCCtx", SIZE, [ctypes.c_void_p]),
        ("ZSTD_CCtx_setParameter", SIZE, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ("ZSTD_compress2", SIZE, [ctypes.c_void_p, ctypes.c_char_p, SIZE, ctypes.c_char_p, SIZE]),
        ("ZSTD_compressBound", SIZE, [SIZE]),
        ("ZSTD_isError", ctypes.c_uint, [SIZE]),
        ("ZSTD_getFrameContentSize", ctypes.c_ulonglong, [ctypes.c_char_p, SIZE]),
        ("ZSTD_findFrameCompressedSize", SIZE, [ctypes.c_char_p, SIZE]),
        ("ZSTD_decompress", SIZE, [ctypes.c_char_p, SIZE, ctypes.c_char_p, SIZE])):
    getattr(ZSTD, _name).restype, getattr(ZSTD, _name).argtypes = _ret, _args
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, SIZE]
LEVEL, CHECKSUM = 100, 201  # ZSTD_c_compressionLevel, ZSTD_c_checksumFlag


def xxh3(raw):
    return XXHASH.XXH3_64bits(raw, len(raw))


def compress(raw, level=3):
    """A frame with content size and checksum."""
    room = ctypes.create_string_buffer(ZSTD.ZSTD_compressBound(len(raw)))
    context = ZSTD.ZSTD_createCCtx()
    ZSTD.ZSTD_CCtx_setParameter(context, LEVEL, level)
    ZSTD.ZSTD_CCtx_setParameter(context, CHECKSUM, 1)
    size = ZSTD.ZSTD_compress2(context, room, len(room), raw, len(raw))
    ZSTD.ZSTD_freeCCtx(context)
    return room.raw[:size]


def frame_size(raw):
    """How long the frame is that begins here; skippable ones as well."""
    return ZSTD.ZSTD_findFrameCompressedSize(raw, len(raw))


def decompress(raw):
    """Of one frame that tells its content size; at most 64 MiB."""
    size = ZSTD.ZSTD_getFrameContentSize(raw, len(raw))
    if size > 64 << 20:
        raise ValueError("a frame that does not tell its size, or too large a one")
    room = ctypes.create_string_buffer(size or 1)
    got = ZSTD.ZSTD_decompress(room, size, raw, len(raw))
    if ZSTD.ZSTD_isError(got):
        raise ValueError("a damaged frame")
    return room.raw[:got]


def packed(raw, suffix):
    return {".zst": compress, ".gz": gzip.compress, ".log": bytes}[suffix](raw)
