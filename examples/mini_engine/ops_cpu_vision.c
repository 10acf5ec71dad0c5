/* SPDX-License-Identifier: Apache-2.0 */
/* What images need: neighbourhoods, windows, tables of positions. */
#include <string.h>

#include "ops_cpu.h"

static void unfold_place(const struct unfold *a, bf16 *y, size_t image, size_t row, size_t column)
{
    size_t at = 0;

    for (size_t ky = 0; ky < a->kernel; ky++)
        for (size_t kx = 0; kx < a->kernel; kx++)
            for (size_t c = 0; c < a->channels; c++, at++) {
                size_t py = row * a->stride + ky, px = column * a->stride + kx;
                int inside = py >= a->padding && px >= a->padding && py < a->height + a->padding &&
                             px < a->width + a->padding;

                y[at] = inside ? a->x[((image * a->height + py - a->padding) * a->width + px -
                                       a->padding) *
                                          a->channels +
                                      c]
                               : 0;
            }
    for (; at < a->y_stride; at++)
        y[at] = 0;
}

static void unfold(struct ops *ops, struct unfold a)
{
    size_t rows = (a.height + 2 * a.padding - a.kernel) / a.stride + 1;
    size_t columns = (a.width + 2 * a.padding - a.kernel) / a.stride + 1;

    (void)ops;
    for (size_t i = 0; i < a.images; i++)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                unfold_place(&a, a.y + ((i * rows + r) * columns + c) * a.y_stride, i, r, c);
}

static void windows(struct ops *ops, struct windows a)
{
    size_t side = (a.grid + a.window - 1) / a.window, square = a.window * a.window;

    (void)ops;
    for (size_t at = 0; at < a.images * side * side * square; at++) {
        size_t in = at % square, which = at / square % (side * side),
               image = at / square / side / side;
        size_t y = which / side * a.window + in / a.window;
        size_t x = which % side * a.window + in % a.window;
        size_t flat = (image * a.grid + y) * a.grid + x;
        int inside = y < a.grid && x < a.grid;

        for (size_t c = 0; c < a.width; c++)
            if (!a.merge)
                a.y[at * a.width + c] = inside ? a.x[flat * a.width + c] : 0;
            else if (inside)
                a.y[flat * a.width + c] = bf16_from_float(bf16_to_float(a.y[flat * a.width + c]) +
                                                          bf16_to_float(a.x[at * a.width + c]));
    }
}

/* Where element i of `to` lies between the elements of `from`; the middle of a pixel is at .5. */
struct between {
    size_t low, high;
    float part; /* of high */
};

static struct between between(size_t i, size_t to, size_t from)
{
    float at = ((float)i + 0.5f) * (float)from / (float)to - 0.5f;
    struct between out;

    at = at < 0 ? 0 : at;
    out.low = (size_t)at;
    out.low = out.low < from - 1 ? out.low : from - 1;
    out.high = out.low < from - 1 ? out.low + 1 : out.low;
    out.part = at - (float)out.low;
    return out;
}

static float blend(float low, float high, float part)
{
    return low + (high - low) * part;
}

static float table_value(const struct place *a, size_t y, size_t x, size_t c)
{
    struct between row = between(y, a->grid, a->table_grid),
                   column = between(x, a->grid, a->table_grid);
    const bf16 *low = a->table + (a->skip + row.low * a->table_grid) * a->width + c;
    const bf16 *high = a->table + (a->skip + row.high * a->table_grid) * a->width + c;
    size_t left = column.low * a->width, right = column.high * a->width;

    return blend(blend(bf16_to_float(low[left]), bf16_to_float(low[right]), column.part),
                 blend(bf16_to_float(high[left]), bf16_to_float(high[right]), column.part),
                 row.part);
}

static void place(struct ops *ops, struct place a)
{
    size_t rows = a.skip + a.grid * a.grid;

    (void)ops;
    for (size_t at = 0; at < a.images * rows * a.width; at++) {
        size_t c = at % a.width, r = at / a.width % rows;
        float plus = r < a.skip ? bf16_to_float(a.table[r * a.width + c])
                                : table_value(&a, (r - a.skip) / a.grid, (r - a.skip) % a.grid, c);

        a.x[at] = bf16_from_float(bf16_to_float(a.x[at]) + plus);
    }
}

/* Row r of a table of 2 grid - 1 distances, made of one of 2 table_grid - 1. */
static float relative_dot(const struct relative *a, const bf16 *table, const bf16 *q, size_t r)
{
    struct between at = between(r, 2 * a->grid - 1, 2 * a->table_grid - 1);
    float sum = 0;

    for (size_t i = 0; i < a->dim; i++)
        sum += bf16_to_float(q[i]) * blend(bf16_to_float(table[at.low * a->dim + i]),
                                           bf16_to_float(table[at.high * a->dim + i]), at.part);
    return sum;
}

static void relative(struct ops *ops, struct relative a)
{
    size_t square = a.grid * a.grid;

    (void)ops;
    for (size_t at = 0; at < a.batch * square; at++)
        for (size_t k = 0; k < a.grid; k++) {
            size_t y = at % square / a.grid, x = at % a.grid;
            const bf16 *q = a.q + at * a.dim;

            a.rows[at * a.grid + k] = relative_dot(&a, a.row_table, q, y + a.grid - 1 - k);
            a.columns[at * a.grid + k] = relative_dot(&a, a.column_table, q, x + a.grid - 1 - k);
        }
}

static void affine(struct ops *ops, struct affine a)
{
    (void)ops;
    for (size_t at = 0; at < a.rows * a.width; at++) {
        float value = bf16_to_float(a.x[at]);

        if (a.scale)
            value =
                value * bf16_to_float(a.scale[at % a.width]) + bf16_to_float(a.shift[at % a.width]);
        value += a.add ? bf16_to_float(a.add[at]) : 0;
        a.x[at] = bf16_from_float(a.relu && value < 0 ? 0 : value);
    }
}

static void mean(struct ops *ops, struct mean a)
{
    (void)ops;
    for (size_t at = 0; at < a.images * a.width; at++) {
        float sum = 0;

        for (size_t r = 0; r < a.count; r++)
            sum += bf16_to_float(a.x[(at / a.width * a.count + r) * a.width + at % a.width]);
        a.y[at] = bf16_from_float(sum / (float)a.count);
    }
}

void ops_cpu_add_vision(struct ops *ops)
{
    ops->unfold = unfold;
    ops->windows = windows;
    ops->place = place;
    ops->relative = relative;
    ops->affine = affine;
    ops->mean = mean;
}
