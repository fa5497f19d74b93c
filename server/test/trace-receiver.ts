import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";

type Value = string | number | boolean | readonly Value[] | undefined;

/** A span as the receiver read it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if the span has no parent. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly durationMs: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0: unset, 2: error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, Value>>;
}

/** A receiver of spans, in place of an OpenTelemetry collector. */
export interface TraceReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** The bodies and headers of all requests, to search them for text that must not be there. */
  readonly bytes: Buffer[];
  readonly headers: IncomingHttpHeaders[];
  /** Status of further responses; by default 200. */
  status: number;
  /**
   * Waits until at least `count` spans that `match` have arrived. Returns all that `match`, in the
   * order of arrival.
   * @param count default: 1.
   */
  await(match: (span: ReceivedSpan) => boolean, count?: number): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    receiver.bytes.push(body);
    receiver.headers.push(incoming.headers);
    if (receiver.status === 200 && incoming.url === "/v1/traces")
      receiver.spans.push(...readRequest(body));
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bytes: [],
    headers: [],
    status: 200,
    await: (match, count = 1) =>
      eventually(`${count} spans ${match}`, () => {
        const found = receiver.spans.filter(match);
        return found.length >= count ? found : undefined;
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** Fields of a message of Protocol Buffers, by number. */
type Fields = Map<number, (Buffer | bigint)[]>;

/** Parses a message of Protocol Buffers: https://protobuf.dev/programming-guides/encoding/ */
function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    const length = type === 2 ? Number(varint()) : type === 1 ? 8 : type === 5 ? 4 : 0;
    const value = type === 0 ? varint() : bytes.subarray(at, at + length);
    at += length;
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((value) => readFields(value as Buffer));
const bytesOf = (fields: Fields, number: number) =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
const hex = (fields: Fields, number: number) => bytesOf(fields, number).toString("hex");
const text = (fields: Fields, number: number) => bytesOf(fields, number).toString();
const integer = (fields: Fields, number: number) => Number(fields.get(number)?.[0] ?? 0);

/**
 * Returns the spans in the body of an export request. The field numbers are those of `trace.proto`
 * in https://github.com/open-telemetry/opentelemetry-proto.
 */
function readRequest(body: Buffer): ReceivedSpan[] {
  return messages(readFields(body), 1).flatMap((ofResource) => {
    const [resource = new Map()] = messages(ofResource, 1);
    return messages(ofResource, 2).flatMap((ofScope) =>
      messages(ofScope, 2).map((span) => readSpan(span, attributesOf(resource, 1))),
    );
  });
}

function readSpan(span: Fields, resource: ReceivedSpan["resource"]): ReceivedSpan {
  const nanoseconds = bytesOf(span, 8).readBigUInt64LE() - bytesOf(span, 7).readBigUInt64LE();
  const [status = new Map()] = messages(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: integer(span, 6),
    durationMs: Number(nanoseconds) / 1e6,
    attributes: attributesOf(span, 9),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    status: integer(status, 3),
    resource,
  };
}

const attributesOf = (fields: Fields, number: number) =>
  Object.fromEntries(
    messages(fields, number).map((pair) => [text(pair, 1), toValue(messages(pair, 2)[0])]),
  );

function toValue(value: Fields = new Map()): Value {
  const [[kind, [given]] = [0, []]] = value as Map<number, [Buffer | bigint]>;
  if (kind === 1) return String(given);
  if (kind === 2) return given === 1n;
  if (kind === 3) return Number(given);
  if (kind === 4) return (given as Buffer).readDoubleLE();
  if (kind === 5) return messages(readFields(given as Buffer), 1).map(toValue);
  return undefined;
}
