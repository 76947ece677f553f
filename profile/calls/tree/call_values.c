#include "profile/calls/tree/call_values.h"

#include "trace/base/hash.h"

static struct object_seen *object_of(struct call_hasher *hasher, uint32_t object)
{
    while (hasher->objects.n <= object)
        if (!vec_push(&hasher->objects, (struct object_seen){ 0 }))
            return NULL;
    return &hasher->objects.v[object];
}

bool call_hasher_note(struct call_hasher *hasher, const struct entry_guards *guards)
{
    for (size_t i = 0; i < guards->leaves.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        if (leaf->how != LEAF_IDENTITY || leaf->then.object == OBJECT_NONE)
            continue;
        struct object_seen *object = object_of(hasher, leaf->then.object);
        if (!object)
            return false;
        object->known = true;
    }
    return true;
}

static void put_object(struct call_hasher *hasher, uint32_t number, uint32_t *n_objects)
{
    struct object_seen *object = number == OBJECT_NONE ? NULL : object_of(hasher, number);
    if (!object) {
        hasher->key.failed |= number != OBJECT_NONE;
        buf_varint(&hasher->key, 0);
        return;
    }
    if (object->call != hasher->n_calls) {
        object->call = hasher->n_calls;
        object->ordinal = ++*n_objects;
    }
    buf_varint(&hasher->key, object->ordinal);
    if (object->known)
        buf_varint(&hasher->key, number);
    buf_putc(&hasher->key, object->known ? 'k' : 'u');
}

static void put_tensor(const struct py_value *value, struct buf *out)
{
    const struct tensor_value *tensor = value->tensor;
    buf_counted(out, tensor->dtype);
    buf_counted(out, tensor->device);
    buf_varint(out, tensor->n_dims);
    for (uint32_t i = 0; i < tensor->n_dims; i++) {
        buf_zigzag(out, tensor->sizes[i]);
        buf_zigzag(out, tensor->strides[i]);
    }
    buf_zigzag(out, tensor->offset);
    buf_putc(out, (char)(tensor->requires_grad | value->inference << 1 | tensor->plain << 2));
    for (size_t i = 0; i < TENSOR_MARK_COUNT; i++)
        buf_varint(out, tensor->marks[i]);
}

static void put_value(struct call_hasher *hasher, const struct py_value *value, uint32_t *n_objects)
{
    struct buf *out = &hasher->key;
    uint64_t bits;
    memcpy(&bits, &value->real, sizeof bits);
    buf_putc(out, (char)value->kind);
    buf_counted(out, value->type);
    buf_counted(out, value->text);
    buf_zigzag(out, value->integer);
    buf_varint(out, value->kind == PY_FLOAT ? bits : 0);
    buf_varint(out, value->n);
    for (uint32_t i = 0; value->kind == PY_DICT && i < value->n; i++)
        buf_counted(out, value->keys[i]);
    put_object(hasher, value->object, n_objects);
    if (value->kind == PY_TENSOR)
        put_tensor(value, out);
}

bool call_hasher_hash(struct call_hasher *hasher, const struct program_call *call, uint64_t *ret)
{
    uint32_t n_objects = 0;
    hasher->n_calls++;
    buf_clear(&hasher->key);
    buf_zigzag(&hasher->key, call->module);
    call_mode_put(&call->mode, &hasher->key);
    for (uint32_t i = 0; i < call->n_values; i++) {
        const struct py_value value = program_call_value(call, i);
        buf_varint(&hasher->key, call->values[i].source);
        put_value(hasher, &value, &n_objects);
    }
    *ret = hash_str(buf_str(&hasher->key));
    return !hasher->key.failed;
}

void call_hasher_release(struct call_hasher *hasher)
{
    vec_release(&hasher->objects);
    buf_release(&hasher->key);
}
