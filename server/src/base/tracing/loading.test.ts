import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const settings = {
  url: "http://127.0.0.1:9/v1/traces",
  headers: {},
  serviceName: "beckon",
  resourceAttributes: {},
  sampler: { ratio: 1, followsParent: true },
  delayMs: 1,
  maxQueuedSpans: 1,
};

// It is enough to load `index.ts` of this folder: `script/check` makes sure that no other file of
// the server than `otlp-tracing.ts` imports the packages of OpenTelemetry.
test("the packages of OpenTelemetry are loaded only if there is an endpoint", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ load(url, context, next) {
      const [, name] = /node_modules\\/(@opentelemetry\\/[^/]+)/.exec(url) ?? [];
      if (name !== undefined) loaded.add(name);
      return next(url, context);
    } });
    const { createTracing } = await import(${JSON.stringify(join(import.meta.dirname, "index.ts"))});
    const options = { processId: "prc_1" };
    await createTracing({ trustedProxies: 0 }, options);
    const without = [...loaded];
    await createTracing({ traces: ${JSON.stringify(settings)}, trustedProxies: 0 }, options);
    console.log(JSON.stringify([without, [...loaded]]));
  `;
  const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script];
  const output = execFileSync(process.execPath, flags, { encoding: "utf8" });
  const [without, withEndpoint] = JSON.parse(output);
  expect(without).toEqual([]);
  expect(withEndpoint).toContain("@opentelemetry/sdk-trace");
});
