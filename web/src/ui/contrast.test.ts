import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** Red, green and blue as linear light, each between 0 and 1. */
type Linear = readonly [number, number, number];

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const number = "([\\d.]+)";
const oklch = `oklch\\(${number} ${number} ${number}\\)`;
const pairs = new RegExp(`--color-([\\w-]+): light-dark\\(${oklch}, ${oklch}\\)`, "g");
const tokens = new Map(
  [...css.matchAll(pairs)].map(([, name, ...values]) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = values.map(Number);
    return [name, { light: toLinear(a, b, c), dark: toLinear(d, e, f) }];
  }),
);

/**
 * Converts OKLCH to linear sRGB and clips it (Björn Ottosson, "A perceptual color space", 2020).
 */
function toLinear(lightness: number, chroma: number, hue: number): Linear {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (value: number) => Math.min(1, Math.max(0, value));
  return [
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** Returns the contrast ratio of two colours as WCAG 2.2 defines it. */
function contrast(one: Linear, other: Linear): number {
  const luminance = ([r, g, b]: Linear) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function token(name: string, theme: "light" | "dark"): Linear {
  const found = tokens.get(name);
  if (found === undefined) throw new Error(`tokens.css has no --color-${name}`);
  return found[theme];
}

const grounds = ["page", "sheet", "well", "field", "hover", "pick"];
const texts = ["ink", "ink-2", "ink-3", "tide", "tide-strong", "moss", "flare", "brass", "plum"];

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  test.each(texts)("%s can be read on every ground", (text) => {
    for (const ground of grounds)
      expect(contrast(token(text, theme), token(ground, theme)), ground).toBeGreaterThanOrEqual(
        4.5,
      );
  });

  test("edges of controls are visible on every ground", () => {
    // WCAG 1.4.11 requires a ratio of 3:1.
    for (const ground of grounds)
      expect(contrast(token("edge", theme), token(ground, theme)), ground).toBeGreaterThanOrEqual(
        3,
      );
  });

  test.each([
    ["on-tide", "tide"],
    ["on-tide", "tide-strong"],
    ["on-flare", "flare"],
    ["tide", "tide-soft"],
    ["moss", "moss-soft"],
    ["flare", "flare-soft"],
    ["brass", "brass-soft"],
    ["ink", "tide-soft"],
    ["ink", "flare-soft"],
    ["ink", "brass-soft"],
    ["page", "ink"],
  ])("%s can be read on %s", (text, ground) => {
    expect(contrast(token(text, theme), token(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  test.each([1, 2, 3, 4, 5, 6])("chart colour %i is visible on a sheet", (index) => {
    const colour = token(`chart-${index}`, theme);
    expect(contrast(colour, token("sheet", theme))).toBeGreaterThanOrEqual(3);
  });
});
