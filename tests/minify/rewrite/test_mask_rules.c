/* The classes of mask_rules.def: calls between x[mask] and what ends its rows, whose results stay
 * with random inputs and masks that are all true, all false and mixed. */
#include "minify/rewrite/rewrite_check.h"

#include <string.h>

#include "tests/harness.h"

enum { SEEDS = 3 };

#define GRAPH(body)                                                                             \
    "class G(torch.nn.Module):\n    def forward(self, x: \"f32[s0, 6]cpu\", m: \"b8[s0]cpu\", " \
    "q: \"f32[6, s0]cpu\", z: \"f32[s0, 4, 6]cpu\", n: \"i64[s0]cpu\", c: \"f32[4, 6]cpu\", "   \
    "w: \"f32[6]cpu\", k: \"f32[5, s0, 6]cpu\"):\n" body
#define ROWS      "        r: \"f32[u0, 6]cpu\" = x[m]\n"
#define ROWS_3D   "        v: \"f32[u0, 4, 6]cpu\" = z[m]\n"
#define INTS      "        l: \"i64[u0]cpu\" = n[m]\n"
#define COUNT     "        u: \"Sym(u0)\" = torch.ops.aten.sym_size.int(r, 0)\n"
#define POSITIONS "        i: \"i64[u0, 1]cpu\" = torch.ops.aten.nonzero.default(m)\n"
#define LABELS    "        j: \"i64[u0]cpu\" = torch.remainder(l, 6)\n"
#define PUT                                                 \
    "        o_: \"f32[s0, 6]cpu\" = torch.zeros_like(x)\n" \
    "        o_[m] = f;  setitem = o_\n"
#define RETURN_PUT "        return (o_,)\n"
#define SUM        "        y: \"f32[]cpu\" = f.sum()\n"
#define RETURN     "        return (y,)\n"

struct rule_case {
    const char *class, *text;
};
static const struct rule_case cases[] = {
    { "EACH",
      GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.gelu_backward.default(r, r)\n" PUT
                RETURN_PUT) },
    { "EACH",
      GRAPH(
          ROWS
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.threshold_backward.default(r, r, 0)\n" PUT
              RETURN_PUT) },
    { "EACH",
      GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.tanh_backward.default(r, r)\n" PUT
                RETURN_PUT) },
    { "EACH",
      GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.silu_backward.default(r, r)\n" PUT
                RETURN_PUT) },
    { "EACH",
      GRAPH(ROWS
            "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.sigmoid_backward.default(r, r)\n" PUT
                RETURN_PUT) },
    { "EACH", GRAPH(ROWS "        g: \"b8[u0, 6]cpu\" = r > 0.5\n"
                         "        f: \"f32[u0, 6]cpu\" = torch.where(g, r, w)\n" PUT RETURN_PUT) },
    { "EACH",
      GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.addcmul(r, r, w)\n" PUT RETURN_PUT) },
    { "EACH", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.nan_to_num(r)\n" PUT RETURN_PUT) },
    { "EACH", GRAPH(ROWS "        a: \"f32[5, 1, 6]cpu\" = k.sum(1, keepdim = True)\n"
                         "        f: \"f32[5, u0, 6]cpu\" = r * a\n"
                         "        y: \"f32[5, 6]cpu\" = f.sum(1)\n" RETURN) },
    { "DIM",
      GRAPH(
          ROWS
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten._softmax_backward_data.default(r, r, -1, torch.float32)\n" PUT
              RETURN_PUT) },
    { "DIM",
      GRAPH(
          ROWS
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten._log_softmax_backward_data.default(r, r, 1, torch.float32)\n" PUT
              RETURN_PUT) },
    { "DIM", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.softmax(r, -1)\n" PUT RETURN_PUT) },
    { "DIM", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.flip(r, [1])\n" PUT RETURN_PUT) },
    { "SCAN", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.cumsum(r, 0)\n" PUT RETURN_PUT) },
    { "SCAN", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.cumprod(r, 0)\n" PUT RETURN_PUT) },
    { "SCAN", GRAPH(ROWS "        f: \"f32[u0, 6]cpu\" = torch.cumsum(r, 1)\n" PUT RETURN_PUT) },
    { "DIM", GRAPH(ROWS "        t = torch.topk(r, 2, -1)\n"
                        "        f: \"f32[u0, 2]cpu\" = t[0]\n" SUM RETURN) },
    { "DIM", GRAPH(ROWS "        t = torch.max(r, -1)\n"
                        "        f: \"f32[u0]cpu\" = t[0]\n" SUM RETURN) },
    { "DIM", GRAPH(ROWS "        t = torch.unbind(r, 1)\n"
                        "        f: \"f32[u0]cpu\" = t[2]\n" SUM RETURN) },
    { "DIM", GRAPH(ROWS "        t = torch.chunk(r, 2, 1)\n"
                        "        f: \"f32[u0, 3]cpu\" = t[1]\n" SUM RETURN) },
    { "DIM", GRAPH(ROWS_3D "        a: \"f32[4, u0, 6]cpu\" = v.permute(1, 0, 2)\n"
                           "        t = torch.unbind(a)\n"
                           "        f: \"f32[u0, 6]cpu\" = t[2]\n" PUT RETURN_PUT) },
    { "PICK",
      GRAPH(ROWS INTS LABELS "        i: \"i64[u0, 1]cpu\" = j.unsqueeze(1)\n"
                             "        f: \"f32[u0, 1]cpu\" = torch.gather(r, 1, i)\n" SUM RETURN) },
    { "CHOOSE",
      GRAPH(ROWS "        i: \"i64[2]cpu\" = torch.ops.aten.full.default([2], 3)\n"
                 "        f: \"f32[u0, 2]cpu\" = torch.index_select(r, 1, i)\n" SUM RETURN) },
    { "NORM",
      GRAPH(ROWS "        o = torch.ops.aten.native_layer_norm.default(r, [6], w, w, 1e-05)\n"
                 "        a: \"f32[u0, 6]cpu\" = o[0]\n"
                 "        d: \"f32[u0, 1]cpu\" = o[2]\n"
                 "        f: \"f32[u0, 6]cpu\" = a * d\n" PUT RETURN_PUT) },
    { "NORM_GRAD",
      GRAPH(
          ROWS
          "        o = torch.ops.aten.native_layer_norm.default(r, [6], w, w, 1e-05)\n"
          "        a: \"f32[u0, 1]cpu\" = o[1]\n"
          "        d: \"f32[u0, 1]cpu\" = o[2]\n"
          "        h = torch.ops.aten.native_layer_norm_backward.default(r, r, [6], a, d, w, w, [True, True, True])\n"
          "        f: \"f32[u0, 6]cpu\" = h[0]\n"
          "        p: \"f32[6]cpu\" = h[1]\n"
          "        s: \"f32[6]cpu\" = h[2]\n" PUT "        return (o_, p, s)\n") },
    { "SAMPLE",
      GRAPH(
          ROWS_3D
          "        f: \"f32[u0, 4, 6]cpu\" = torch.nn.functional.group_norm(v, 2)\n" SUM RETURN) },
    { "ATTENTION",
      GRAPH(
          ROWS_3D
          "        f: \"f32[u0, 4, 6]cpu\" = torch.nn.functional.scaled_dot_product_attention(v, v, v)\n" SUM
              RETURN) },
    { "ATTENTION",
      GRAPH(
          ROWS_3D
          "        a: \"f32[u0, 2, 4, 3]cpu\" = v.view(-1, 2, 4, 3)\n"
          "        f: \"f32[u0, 2, 4, 3]cpu\" = torch.nn.functional.scaled_dot_product_attention(a, a, a, is_causal = True)\n" SUM
              RETURN) },
    { "PRODUCT",
      GRAPH(ROWS "        t: \"f32[6, u0]cpu\" = torch.ops.aten.t.default(r)\n"
                 "        y: \"f32[6, 6]cpu\" = torch.ops.aten.mm.default(t, r)\n" RETURN) },
    { "PRODUCT",
      GRAPH(ROWS "        t: \"f32[6, u0]cpu\" = torch.ops.aten.t.default(r)\n"
                 "        y: \"f32[6, 6]cpu\" = torch.ops.aten.addmm.default(w, t, r)\n" RETURN) },
    { "PRODUCT", GRAPH(ROWS "        t: \"f32[6, u0]cpu\" = torch.ops.aten.t.default(r)\n"
                            "        f: \"f32[4, u0]cpu\" = torch.matmul(c, t)\n"
                            "        y: \"f32[4]cpu\" = f.sum(1)\n" RETURN) },
    { "PRODUCT", GRAPH(ROWS "        f: \"f32[u0]cpu\" = torch.mv(r, w)\n" SUM RETURN) },
    { "PRODUCT",
      GRAPH(ROWS "        f: \"f32[u0, 4]cpu\" = torch.nn.functional.linear(r, c)\n" SUM RETURN) },
    { "PRODUCT", GRAPH(ROWS_3D "        a: \"f32[u0, 6, 4]cpu\" = v.transpose(1, 2)\n"
                               "        f: \"f32[u0, 4, 4]cpu\" = torch.bmm(v, a)\n" SUM RETURN) },
    { "PRODUCT",
      GRAPH(ROWS_3D
            "        f: \"f32[u0, 4, 4]cpu\" = torch.nn.functional.linear(v, c)\n" SUM RETURN) },
    { "PRODUCT", GRAPH(ROWS "        a: \"f32[u0]cpu\" = r.sum(1)\n"
                            "        y: \"f32[]cpu\" = torch.dot(a, a)\n" RETURN) },
    { "PRODUCT", GRAPH(ROWS "        a: \"f32[5, 6, 4]cpu\" = torch.zeros(5, 6, 4)\n"
                            "        f: \"f32[5, u0, 4]cpu\" = torch.matmul(r, a)\n" SUM RETURN) },
    { "VIEW",
      GRAPH(
          ROWS_3D
          "        g: \"f32[4, u0, 6]cpu\" = v.permute(1, 0, 2)\n"
          "        b: \"f32[2, 2, u0, 6]cpu\" = torch.ops.aten.reshape.default(g, [2, 2, -1, 6])\n"
          "        y: \"f32[2, 2, 6]cpu\" = b.sum(2)\n" RETURN) },
    { "EXPAND",
      GRAPH(ROWS COUNT
            "        a: \"f32[u0, 1]cpu\" = r.sum(-1, keepdim = True)\n"
            "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.expand.default(a, [u, 6])\n" PUT
                RETURN_PUT) },
    { "EXPAND",
      GRAPH(ROWS COUNT "        a: \"f32[u0, 6]cpu\" = torch.ops.aten.expand.default(w, [u, 6])\n"
                       "        f: \"f32[u0, 6]cpu\" = a * r\n" PUT RETURN_PUT) },
    { "CREATE",
      GRAPH(ROWS COUNT "        a: \"f32[u0, 6]cpu\" = torch.ops.aten.full.default([u, 6], 3.0)\n"
                       "        f: \"f32[u0, 6]cpu\" = a * r\n" PUT RETURN_PUT) },
    { "CREATE", GRAPH(ROWS COUNT "        a: \"f32[u0, 6]cpu\" = r.new_ones((u, 6))\n"
                                 "        f: \"f32[u0, 6]cpu\" = a + r\n" PUT RETURN_PUT) },
    { "MOVE", GRAPH(ROWS_3D "        a: \"f32[4, u0, 6]cpu\" = v.transpose(0, 1)\n"
                            "        b: \"f32[4, u0, 2, 3]cpu\" = a.unflatten(2, (2, 3))\n"
                            "        d: \"f32[4, u0, 6]cpu\" = b.flatten(2)\n"
                            "        f: \"f32[4, 1, u0, 6]cpu\" = d.unsqueeze(1)\n"
                            "        g: \"f32[4, u0, 6]cpu\" = f.squeeze(1)\n"
                            "        y: \"f32[4, 6]cpu\" = g.mean(1)\n" RETURN) },
    { "PERMUTE", GRAPH(ROWS_3D "        f: \"f32[6, 4, u0]cpu\" = v.permute(2, 1, 0)\n"
                               "        y: \"f32[6, 4]cpu\" = f.mean(-1)\n" RETURN) },
    { "CAT", GRAPH(ROWS "        f: \"f32[u0, 12]cpu\" = torch.cat([r, r], 1)\n" SUM RETURN) },
    { "CAT", GRAPH(ROWS "        a: \"f32[2, u0, 6]cpu\" = torch.stack([r, r])\n"
                        "        f: \"f32[u0, 6]cpu\" = a.sum(0)\n" PUT RETURN_PUT) },
    { "LOOKUP",
      GRAPH(INTS LABELS
            "        e: \"f32[6, 4]cpu\" = torch.t(c)\n"
            "        f: \"f32[u0, 4]cpu\" = torch.nn.functional.embedding(j, e)\n" SUM RETURN) },
    { "LOOKUP",
      GRAPH(INTS LABELS
            "        e: \"f32[6, 4]cpu\" = torch.t(c)\n"
            "        f: \"f32[u0, 4]cpu\" = torch.ops.aten.embedding.default(e, j)\n" SUM RETURN) },
    { "LOOKUP",
      GRAPH(INTS LABELS "        f: \"i64[u0, 6]cpu\" = torch.nn.functional.one_hot(j, 6)\n"
                        "        y: \"i64[6]cpu\" = f.sum(0)\n" RETURN) },
    { "ADD_UP",
      GRAPH(
          ROWS INTS LABELS
          "        y: \"f32[9, 6]cpu\" = torch.ops.aten.embedding_dense_backward.default(r, j, 9, -1, False)\n" RETURN) },
    { "ADD_UP",
      GRAPH(ROWS INTS LABELS "        a: \"f32[u0]cpu\" = r.sum(1)\n"
                             "        b: \"f32[6]cpu\" = torch.zeros(6)\n"
                             "        y: \"f32[6]cpu\" = b.scatter_add(0, j, a)\n" RETURN) },
    { "LOSS", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                         "        y: \"f32[]cpu\" = torch.nn.functional.mse_loss(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.mse_loss(r, a, reduction = 'sum')\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.nn.functional.mse_loss(r, a, reduction = 'none')\n" PUT
              RETURN_PUT) },
    { "LOSS", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                         "        y: \"f32[]cpu\" = torch.nn.functional.l1_loss(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.l1_loss(r, a, reduction = 'sum')\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.nn.functional.l1_loss(r, a, reduction = 'none')\n" PUT
              RETURN_PUT) },
    { "LOSS",
      GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                 "        y: \"f32[]cpu\" = torch.nn.functional.smooth_l1_loss(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.smooth_l1_loss(r, a, reduction = 'sum')\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.nn.functional.smooth_l1_loss(r, a, reduction = 'none')\n" PUT
              RETURN_PUT) },
    { "LOSS",
      GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                 "        y: \"f32[]cpu\" = torch.nn.functional.huber_loss(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.huber_loss(r, a, reduction = 'sum')\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.nn.functional.huber_loss(r, a, reduction = 'none')\n" PUT
              RETURN_PUT) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.binary_cross_entropy_with_logits(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        y: \"f32[]cpu\" = torch.nn.functional.binary_cross_entropy_with_logits(r, a, reduction = 'sum')\n" RETURN) },
    { "LOSS",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.nn.functional.binary_cross_entropy_with_logits(r, a, reduction = 'none')\n" PUT
              RETURN_PUT) },
    { "LOSS",
      GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                 "        y: \"f32[]cpu\" = torch.ops.aten.mse_loss.default(r, a)\n" RETURN) },
    { "LOSS",
      GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r * r\n"
                 "        y: \"f32[]cpu\" = torch.ops.aten.mse_loss.default(r, a, 2)\n" RETURN) },
    { "LOSS",
      GRAPH(ROWS
            "        a: \"f32[u0, 6]cpu\" = torch.sigmoid(r)\n"
            "        b: \"f32[u0, 6]cpu\" = torch.tanh(a)\n"
            "        y: \"f32[]cpu\" = torch.nn.functional.binary_cross_entropy(a, b)\n" RETURN) },
    { "LOSS_GRAD",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.mse_loss_backward.default(r, r, a, 0)\n" PUT
              RETURN_PUT) },
    { "LOSS_GRAD of a mean",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.smooth_l1_loss_backward.default(w, r, a, 1, 1.0)\n" PUT
              RETURN_PUT) },
    { "LOSS_GRAD of a mean",
      GRAPH(
          ROWS
          "        a: \"f32[u0, 6]cpu\" = r * r\n"
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.mse_loss_backward.default(w, r, a, 1)\n" PUT
              RETURN_PUT) },
    { "CREATE", GRAPH(ROWS "        a: \"f32[7]cpu\" = r.new_zeros((7,))\n"
                           "        b: \"f32[]cpu\" = r.sum()\n"
                           "        y: \"f32[7]cpu\" = a + b\n" RETURN) },
    { "LABELS",
      GRAPH(ROWS INTS LABELS
            "        y: \"f32[]cpu\" = torch.nn.functional.cross_entropy(r, j)\n" RETURN) },
    { "LABELS",
      GRAPH(
          ROWS INTS LABELS
          "        y: \"f32[]cpu\" = torch.nn.functional.cross_entropy(r, j, reduction = 'sum')\n" RETURN) },
    { "LABELS",
      GRAPH(
          ROWS INTS LABELS
          "        y: \"f32[]cpu\" = torch.nn.functional.cross_entropy(r, j, label_smoothing = 0.1)\n" RETURN) },
    { "LABELS",
      GRAPH(
          ROWS INTS LABELS
          "        f: \"f32[u0]cpu\" = torch.nn.functional.cross_entropy(r, j, reduction = 'none')\n" SUM
              RETURN) },
    { "LABELS",
      GRAPH(
          ROWS INTS LABELS
          "        y: \"f32[]cpu\" = torch.nn.functional.cross_entropy(r, j, weight = w)\n" RETURN) },
    { "LABELS",
      GRAPH(
          ROWS INTS LABELS
          "        o = torch.ops.aten.nll_loss_forward.default(r, j, None, 1, -100)\n"
          "        y: \"f32[]cpu\" = o[0]\n"
          "        p: \"f32[]cpu\" = o[1]\n"
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.nll_loss_backward.default(y, r, j, None, 1, -100, p)\n" PUT
          "        return (o_, y, p)\n") },
    { "LABELS",
      GRAPH(ROWS INTS LABELS "        o = torch.ops.aten.nll_loss_forward.default(r, j, w, 2, 3)\n"
                             "        y: \"f32[]cpu\" = o[0]\n" RETURN) },
    { "count", GRAPH(ROWS COUNT "        a: \"f32[u0, 6]cpu\" = torch.ops.aten.div.Scalar(r, u)\n"
                                "        f: \"f32[u0, 6]cpu\" = a * 2\n" PUT RETURN_PUT) },
    { "count", GRAPH(ROWS COUNT "        a: \"Sym(6*u0)\" = u * 6\n"
                                "        b: \"f32[]cpu\" = r.sum()\n"
                                "        y: \"f32[]cpu\" = b / a\n" RETURN) },
    { "count",
      GRAPH(ROWS COUNT "        a: \"Sym(u0 + 1)\" = 1 + u\n"
                       "        b: \"f32[]cpu\" = r.sum()\n"
                       "        y: \"f32[]cpu\" = torch.ops.aten.div.Scalar(b, a)\n" RETURN) },
    { "dims", GRAPH("        r: \"f32[6, u0]cpu\" = q[(slice(None, None, None), m)]\n"
                    "        y: \"f32[6]cpu\" = r.mean(1)\n" RETURN) },
    { "dims", GRAPH("        r: \"f32[6, u0]cpu\" = q[(Ellipsis, m)]\n"
                    "        f: \"f32[6, u0]cpu\" = torch.exp(r)\n"
                    "        q[(slice(None, None, None), m)] = f;  setitem = q\n"
                    "        y: \"f32[6, s0]cpu\" = q + 1\n" RETURN) },
    { "dims",
      GRAPH(
          "        r: \"f32[5, u0, 6]cpu\" = torch.ops.aten.index.Tensor(k, [None, m])\n"
          "        f: \"f32[5, u0, 6]cpu\" = torch.softmax(r, -1)\n"
          "        y: \"f32[5, s0, 6]cpu\" = torch.ops.aten.index_put.default(k, [None, m], f)\n" RETURN) },
    { "dims", GRAPH("        k[(slice(None, None, None), m)] = w;  setitem = k\n"
                    "        y: \"f32[5, s0, 6]cpu\" = k + 1\n" RETURN) },
    { "dims", GRAPH("        k[(slice(None, None, None), m)] = 3;  setitem = k\n"
                    "        y: \"f32[5, s0, 6]cpu\" = k + 1\n" RETURN) },
    { "indices",
      GRAPH(
          POSITIONS
          "        g: \"i64[u0, 1]cpu\" = torch.ops.aten.slice.Tensor(i, 1, 0, 1)\n"
          "        p: \"i64[u0]cpu\" = torch.ops.aten.squeeze.dims(g, [1])\n"
          "        f: \"f32[u0, 6]cpu\" = torch.ops.aten.index.Tensor(x, [p])\n"
          "        y: \"f32[s0, 6]cpu\" = torch.ops.aten.index_put.default(x, [p], f, True)\n" RETURN) },
    { "indices", GRAPH(POSITIONS "        p: \"i64[u0]cpu\" = i.squeeze(1)\n"
                                 "        f: \"f32[u0, 6]cpu\" = torch.index_select(x, 0, p)\n"
                                 "        y: \"f32[s0, 6]cpu\" = x.index_copy(0, p, f)\n" RETURN) },
    { "indices", GRAPH(POSITIONS "        p: \"i64[u0]cpu\" = i[(slice(None, None, None), 0)]\n"
                                 "        f: \"f32[6, u0]cpu\" = torch.index_select(q, 1, p)\n"
                                 "        y: \"f32[6, s0]cpu\" = q.index_add(1, p, f)\n" RETURN) },
    { "indices",
      GRAPH(POSITIONS "        p: \"i64[u0]cpu\" = i.view(-1)\n"
                      "        f: \"f32[5, u0, 6]cpu\" = k[(slice(None, None, None), p)]\n"
                      "        y: \"f32[5, 6]cpu\" = f.sum(1)\n" RETURN) },
    { "indices", GRAPH(POSITIONS "        p: \"i64[u0]cpu\" = torch.ops.aten.select.int(i, 1, 0)\n"
                                 "        f: \"f32[u0, 6]cpu\" = x[p]\n"
                                 "        y: \"f32[6]cpu\" = f.sum(0)\n" RETURN) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = torch.log(b)\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = torch.asin(b)\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = torch.acosh(b)\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = torch.sqrt(b)\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = 1 / b\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = torch.exp(b)\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 0.25\n"
                               "        b: \"f32[u0, 6]cpu\" = a.clamp(0.001, 0.9)\n"
                               "        f: \"f32[u0, 6]cpu\" = b ** 0.5\n" PUT RETURN_PUT) },
    { "derivative", GRAPH(INTS "        a: \"i64[u0]cpu\" = l - 1\n"
                               "        b: \"i64[u0]cpu\" = a * a\n"
                               "        d: \"i64[u0]cpu\" = b + 1\n"
                               "        e: \"i64[u0]cpu\" = 60 // d\n"
                               "        y: \"i64[]cpu\" = e.sum()\n" RETURN) },
    { "VIEW",
      GRAPH(ROWS_3D
            "        u: \"Sym(u0)\" = torch.ops.aten.sym_size.int(v, 0)\n"
            "        a: \"Sym(4*u0)\" = u * 4\n"
            "        b: \"f32[4*u0, 6]cpu\" = torch.ops.aten.view.default(v, [a, 6])\n"
            "        d: \"f32[6, 4*u0]cpu\" = torch.t(b)\n"
            "        e: \"f32[6, 6]cpu\" = torch.mm(d, b)\n"
            "        h: \"f32[4*u0, 6]cpu\" = torch.mm(b, e)\n"
            "        f: \"f32[u0, 4, 6]cpu\" = torch.ops.aten._unsafe_view.default(h, [u, 4, 6])\n"
            "        g: \"f32[s0, 4, 6]cpu\" = torch.zeros_like(z)\n"
            "        g[m] = f;  setitem = g\n"
            "        return (g,)\n") },
    { "VIEW",
      GRAPH(ROWS_3D "        u: \"Sym(u0)\" = torch.ops.aten.sym_size.int(v, 0)\n"
                    "        a: \"Sym(4*u0)\" = u * 4\n"
                    "        b: \"f32[4*u0, 6]cpu\" = torch.ops.aten.view.default(v, [a, 6])\n"
                    "        y: \"f32[6]cpu\" = b.mean(0)\n" RETURN) },
    { "MOVE",
      GRAPH(ROWS_3D "        b: \"f32[4*u0, 6]cpu\" = v.flatten(0, 1)\n"
                    "        e: \"f32[4*u0, 6]cpu\" = b - 0.5\n"
                    "        a: \"f32[4*u0, 6]cpu\" = e.exp()\n"
                    "        d: \"f32[4*u0, 6]cpu\" = torch.sqrt(a)\n"
                    "        y: \"f32[]cpu\" = torch.nn.functional.mse_loss(b, d)\n" RETURN) },
    { "EXPAND",
      GRAPH(ROWS_3D "        u: \"Sym(u0)\" = torch.ops.aten.sym_size.int(v, 0)\n"
                    "        a: \"Sym(4*u0)\" = u * 4\n"
                    "        b: \"f32[4*u0, 6]cpu\" = torch.ops.aten.view.default(v, [a, 6])\n"
                    "        d: \"f32[4*u0, 6]cpu\" = torch.ops.aten.expand.default(w, [a, 6])\n"
                    "        e: \"f32[4*u0, 6]cpu\" = d * b\n"
                    "        y: \"f32[6]cpu\" = e.sum(0)\n" RETURN) },
};

static struct candidate *read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct cand_hint rows = { STR("s0"), 11 };
    const struct candidate_options options = { &rows, 1 };
    struct candidate *ret = candidate_read_fx(str_of(text), &options, &err);
    assert_no_err(&err);
    return ret;
}

static void check_case(const struct rule_case *rule)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    struct rewrite_check check;
    const struct rewrite_options how = { .differentiated = true };
    /* The gradient of a mean divides by 0 rows. */
    uint32_t runs = 2 + !strstr(rule->class, "mean");
    struct candidate *whole = read_text(rule->text);
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_no_err(&err);
    for (uint32_t i = 0; i < rewrite.n_calls; i++)
        if (rewrite.calls[i].status != MASK_REWRITTEN)
            fail_msg("%s: kept: %.*s\n%s", rule->class, STR_ARG(rewrite.calls[i].why), rule->text);
    assert_true(rewrite.n_calls > 0);
    assert_int_equal(rewrite.unbacked_after, 0);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        whole->seed = seed;
        assert_true(rewrite_check(&rewrite, &check, &err));
        assert_no_err(&err);
        if (check.verdict != REWRITE_EQUAL || check.runs < runs)
            fail_msg("%s: %s: %s\n%s", rule->class, rewrite_verdict_name(check.verdict), check.text,
                     rule->text);
    }
    rewrite_release(&rewrite);
    candidate_free(whole);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

static bool rewrite_once(void *whole)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = true };
    bool ok = rewrite_masks(whole, &how, &rewrite, &err);
    assert_int_equal(ok, !err_is_set(&err));
    rewrite_release(&rewrite);
    return ok;
}

/* A loss, and a call before which rows are refilled. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {
        GRAPH(ROWS "        a: \"f32[u0, 6]cpu\" = r - 1\n"
                   "        b: \"f32[u0, 6]cpu\" = a.log()\n"
                   "        y: \"f32[]cpu\" = torch.nn.functional.mse_loss(b, r)\n" RETURN),
        GRAPH(POSITIONS "        p: \"i64[u0]cpu\" = i.squeeze(1)\n"
                        "        f: \"f32[u0, 6]cpu\" = torch.index_select(x, 0, p)\n"
                        "        y: \"f32[s0, 6]cpu\" = x.index_add(0, p, f)\n" RETURN),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct candidate *whole = read_text(texts[i]);
        check_alloc_failures(rewrite_once, whole);
        candidate_free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rules),
                                        cmocka_unit_test(test_no_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
