import { expect, test } from "vitest";
import { readConfig } from "../../config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
const read = (env: Record<string, string>) => readConfig({ ...endpoint, ...env }).traces;

test("the endpoint turns traces on, and the URL for traces takes precedence", () => {
  expect(readConfig({}).traces).toBeUndefined();
  expect(read({})).toEqual({
    url: "http://collector:4318/v1/traces",
    headers: {},
    serviceName: "beckon",
    resourceAttributes: {},
    sampler: { ratio: 1, followsParent: true },
    delayMs: 5_000,
    maxQueuedSpans: 2_048,
  });
  const url = "https://traces.example.com/otlp";
  expect(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url })?.url).toBe(url);
  for (const off of [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])
    expect(read(off)).toBeUndefined();
});

test.each([
  { OTEL_SDK_DISABLED: "true" },
  { OTEL_TRACES_EXPORTER: "none" },
  { OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" },
])("without traces no value of OpenTelemetry is checked: %j", (off) => {
  const wrong = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317", OTEL_BSP_SCHEDULE_DELAY: "0" };
  expect(readConfig({ ...wrong, ...off }).traces).toBeUndefined();
});

test("a list of exporters can have spaces", () => {
  expect(read({ OTEL_TRACES_EXPORTER: "console, otlp" })).toBeDefined();
});

test("headers and resource attributes are decoded, and the service has a name", () => {
  const settings = read({
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20one,x-a=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=Bearer%20two",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=named,deployment.environment.name=a%2Cb",
  });
  expect(settings).toMatchObject({
    headers: { authorization: "Bearer two", "x-a": "1" },
    serviceName: "named",
    resourceAttributes: { "deployment.environment.name": "a,b" },
  });
  const service = { OTEL_SERVICE_NAME: "own", OTEL_RESOURCE_ATTRIBUTES: "service.name=named" };
  expect(read(service)?.serviceName).toBe("own");
});

test.each([
  ["always_on", undefined, { ratio: 1, followsParent: false }],
  ["always_off", undefined, { ratio: 0, followsParent: false }],
  ["traceidratio", "0.25", { ratio: 0.25, followsParent: false }],
  ["parentbased_always_off", undefined, { ratio: 0, followsParent: true }],
  ["parentbased_traceidratio", "0.5", { ratio: 0.5, followsParent: true }],
])("the sampler %s with %s is read", (name, argument, sampler) => {
  const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument ?? "" };
  expect(read(env)?.sampler).toEqual(sampler);
});

test("mistakes are errors if there is an endpoint, without secret values", () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_HEADERS: "very-secret",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_TRACES_SAMPLER: "xray",
  };
  expect(readConfig(wrong).traces).toBeUndefined();
  expect(() => read(wrong)).toThrow(
    /^OTEL_EXPORTER_OTLP_PROTOCOL was "grpc".* 4318\.\nOTEL_EXPORTER_OTLP_HEADERS was 11 char.*\nOTEL_TRACES_SAMPLER was "xray"/,
  );
  expect(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: "secret:4318" })).toThrow(
    /^OTEL_EXPORTER_OTLP_ENDPOINT was 11 characters; it must be an http or https URL/,
  );
  const ratio = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
  expect(() => read(ratio)).toThrow(/OTEL_TRACES_SAMPLER_ARG was "2"/);
});
