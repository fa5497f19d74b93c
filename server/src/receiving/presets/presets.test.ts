import { presetName, preset as presetSchema, receiving } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { decodeBody } from "../bodies/index.ts";
import { presets } from "./index.ts";

test("there is one preset for each name of the contract", () => {
  expect(presets.map(({ name }) => name).sort()).toEqual([...presetName.options].sort());
  expect(new Set(presets.map(({ title }) => title)).size).toBe(presets.length);
});

describe.each(presets)("$title", (preset) => {
  test("it is what the contract says, and its settings can be saved as they are", () => {
    expect(presetSchema.parse(preset)).toEqual(preset);
    expect(receiving.parse(preset.receiving)).toEqual(preset.receiving);
    expect(preset.receiving.preset).toBe(preset.name);
  });

  test("a secret is needed exactly if the preset verifies requests", () => {
    const isVerified = preset.receiving.verification.kind !== "none";
    expect(preset.secret_from !== "none").toBe(isVerified);
  });

  test("the instructions are one sentence", () => {
    expect(preset.instructions).toMatch(/^[A-Z].*\.$/s);
    expect(preset.instructions).not.toMatch(/[.!?] [A-Z]/);
    expect(preset.instructions).toContain("URL");
  });

  test("its examples can be received", async () => {
    expect(preset.examples.length).toBeGreaterThan(0);
    for (const { headers, body } of preset.examples) {
      expect(Object.keys(headers)).toEqual(Object.keys(headers).map((name) => name.toLowerCase()));
      const request = {
        method: "POST",
        url: "https://x.test/t",
        headers,
        body: Buffer.from(body),
        receivedAtMs: 0,
      };
      const { payload } = await decodeBody(preset.receiving, request, () => true);
      expect(payload).toBeTypeOf("object");
    }
  });
});
