#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The network of dummy_resnet once more, in plain Python and double precision, written from its description alone.

reference.py [--batch N] [--in-channels N] [--height N] [--width N] [--channels N] [--blocks N] [--classes N] [--seed N]

Prints the outputs, one image a line. The files in expected/ are kept from it; the tests compare the program with them.
"""
import argparse
import struct

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def draws(seed, stream, count, first=0):
    """Numbers of a stream in [-1, 1)."""
    base = mix((seed + STEP * (stream + 1)) & MASK)
    return [(mix((base + STEP * (i + 1)) & MASK) >> 40) / 2**23 - 1 for i in range(first, first + count)]


def to_float(value):
    """Rounded to 32 bits, as weights are stored."""
    return struct.unpack("f", struct.pack("f", value))[0]


def make_layer(seed, index, fan_in_channels, channels, epsilon):
    stream = 3 + 5 * index
    fan_in = fan_in_channels * 9
    bound = (6 / fan_in) ** 0.5
    flat = [to_float(bound * u) for u in draws(seed, stream, channels * fan_in)]
    scales, shifts = [], []
    for gamma, beta, mean, variance in zip(*(draws(seed, stream + k, channels) for k in (1, 2, 3, 4))):
        scale = (1 + 0.5 * gamma) / (1 + 0.5 * variance + epsilon) ** 0.5
        scales.append(to_float(scale))
        shifts.append(to_float(0.1 * beta - 0.1 * mean * scale))
    weights = [[flat[(o * fan_in_channels + i) * 9:][:9] for i in range(fan_in_channels)] for o in range(channels)]
    return weights, scales, shifts


def padded(plane):
    width = len(plane[0])
    return [[0.0] * (width + 2)] + [[0.0, *row, 0.0] for row in plane] + [[0.0] * (width + 2)]


def convolve(planes, weights):
    """Each output row as a weighted sum of the nine shifted rows of each input plane."""
    height, width = len(planes[0]), len(planes[0][0])
    planes = [padded(plane) for plane in planes]
    result = []
    for kernels in weights:
        rows = []
        for y in range(height):
            sums = [0.0] * width
            for plane, k in zip(planes, kernels):
                for ky in range(3):
                    row, (a, b, c) = plane[y + ky], k[3 * ky:3 * ky + 3]
                    sums = [s + a * p + b * q + c * r for s, p, q, r in zip(sums, row, row[1:], row[2:])]
            rows.append(sums)
        result.append(rows)
    return result


def normalise(planes, scales, shifts):
    return [[[x * scale + shift for x in row] for row in plane] for plane, scale, shift in zip(planes, scales, shifts)]


def relu(planes):
    return [[[max(x, 0.0) for x in row] for row in plane] for plane in planes]


def add(left, right):
    return [[[x + y for x, y in zip(*rows)] for rows in zip(*planes)] for planes in zip(left, right)]


def run(image, layers, head_weights, head_bias):
    x = relu(normalise(convolve(image, layers[0][0]), *layers[0][1:]))
    for first, second in zip(layers[1::2], layers[2::2]):
        y = relu(normalise(convolve(x, first[0]), *first[1:]))
        y = normalise(convolve(y, second[0]), *second[1:])
        x = relu(add(x, y))
    means = [sum(map(sum, plane)) / (len(plane) * len(plane[0])) for plane in x]
    return [bias + sum(w * m for w, m in zip(row, means)) for row, bias in zip(head_weights, head_bias)]


def main():
    parser = argparse.ArgumentParser()
    for name, usual in (("batch", 4), ("in-channels", 3), ("height", 64), ("width", 64), ("channels", 16), ("blocks", 3),
                        ("classes", 10), ("seed", 20)):
        parser.add_argument("--" + name, type=int, default=usual)
    parser.add_argument("--epsilon", type=float, default=1e-5)
    arg = parser.parse_args()

    layers = [make_layer(arg.seed, i, arg.channels if i else arg.in_channels, arg.channels, arg.epsilon)
              for i in range(1 + 2 * arg.blocks)]
    bound = 1 / arg.channels**0.5
    flat = [to_float(bound * u) for u in draws(arg.seed, 1, arg.classes * arg.channels)]
    head_weights = [flat[k * arg.channels:(k + 1) * arg.channels] for k in range(arg.classes)]
    head_bias = [to_float(0.1 * u) for u in draws(arg.seed, 2, arg.classes)]
    plane = arg.height * arg.width
    for image in range(arg.batch):
        numbers = draws(arg.seed, 0, arg.in_channels * plane, image * arg.in_channels * plane)
        planes = [[numbers[c * plane + y * arg.width:][:arg.width] for y in range(arg.height)]
                  for c in range(arg.in_channels)]
        print(*(f"{value:.12g}" for value in run(planes, layers, head_weights, head_bias)), flush=True)


if __name__ == "__main__":
    main()
