import { type MappingMistake, maxInputBytes, type Receiving } from "@beckon/contract";
import { chosenValues, type Evaluator, MappingError, valueLines } from "../mapping/index.ts";
import {
  chosenHeaders,
  chosenQuery,
  type DecodedBody,
  type RawRequest,
  type ReceivedEvent,
} from "../receiving/index.ts";

/** A request whose body is decoded, and the settings of its trigger. */
export interface MappableRequest {
  readonly workspaceId: string;
  readonly receiving: Pick<Receiving, "filter" | "template" | "headers" | "query" | "verification">;
  readonly raw: Pick<RawRequest, "url" | "headers" | "receivedAtMs">;
  readonly event: ReceivedEvent;
  readonly decoded: DecodedBody;
}

/** The result of a trigger's mapping for a request. */
export type MappedRequest =
  | {
      readonly kind: "passes";
      /** The part of the run's input after the prompt prefix. */
      readonly message: string;
      /**
       * The parts of which the field `message` consists, in order. A part of the kind `message` is
       * the rendered template, `values` are the chosen headers and query parameters, and `payload`
       * is the decoded body.
       */
      readonly parts: readonly { readonly kind: "values" | "message" | "payload"; text: string }[];
    }
  /** The filter rejects the request. */
  | { readonly kind: "filtered" }
  | {
      readonly kind: "failed";
      readonly mistake: MappingMistake;
      /** The mistake as a sentence, which becomes the error message of the failed run. */
      readonly error: string;
      /** The payload, for the input of the failed run; empty if it is too large for a run. */
      readonly message: string;
    };

/**
 * Evaluates the trigger's filter, and renders what the agent sees after the prompt prefix: the
 * template or, without one, the chosen headers and query parameters and the payload.
 * @throws ApiError `unavailable` if too many evaluations wait
 */
export async function mapRequest(
  evaluator: Pick<Evaluator, "evaluate">,
  { workspaceId, receiving, raw, event, decoded }: MappableRequest,
): Promise<MappedRequest> {
  const { filter, template } = receiving;
  const values = chosenValues({
    headers: chosenHeaders(receiving, raw),
    query: chosenQuery(receiving, raw),
  });
  const { payload, text } = decoded;
  try {
    const mapped = await evaluator.evaluate({
      tenant: workspaceId,
      filter,
      template,
      variables: {
        payload: { format: payload === text ? "text" : "json", text },
        ...values,
        event,
        files: decoded.files.map(({ id, field, name, media_type: type, size }) => ({
          id,
          field,
          name,
          type,
          size,
        })),
        received_at: new Date(raw.receivedAtMs).toISOString(),
      },
    });
    if (!mapped.passes) return { kind: "filtered" };
    if (mapped.message !== null) {
      return { kind: "passes", message: mapped.message, parts: [part("message", mapped.message)] };
    }
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    const { part: name, message, line } = thrown;
    const isLarge = Buffer.byteLength(text) > maxInputBytes;
    return {
      kind: "failed",
      mistake: { part: name, message, line },
      error: errorOf(thrown),
      message: isLarge ? "" : text,
    };
  }
  const lines = valueLines(values);
  if (lines === "") return { kind: "passes", message: text, parts: [part("payload", text)] };
  return {
    kind: "passes",
    message: text === "" ? lines : `${lines}\n\n${text}`,
    parts: [part("values", lines), ...(text === "" ? [] : [part("payload", text)])],
  };
}

const part = <K extends string>(kind: K, text: string) => ({ kind, text });

function errorOf({ part: name, line, message }: MappingError): string {
  const where = line === null ? "" : ` in line ${line}`;
  return `The ${name === "filter" ? "filter" : "message template"} of the trigger failed${where}: ${message}`;
}
