import type { RunDetails } from "../../runs/index.ts";
import {
  chosenValues,
  type Evaluator,
  MappingError,
  type MappingVariables,
  withoutTemplate,
} from "../../mapping/index.ts";
import { type DecodedBody, queryOf, storedHeaders } from "../../receiving/index.ts";
import type { VerifiedRequest } from "./received-call.ts";

/** What a trigger makes of a request. */
export interface MappedRequest {
  readonly isFiltered: boolean;
  /** What follows the prompt prefix in the run's input. */
  readonly message: string;
  /** Why filter or template failed; undefined if they did not. */
  readonly failure?: string;
}

/** The payload of a run whose message could not be rendered is the body, up to this size. */
const maxFailedPayloadBytes = 1_048_576;

/**
 * Evaluates the filter and renders the message.
 * @throws ApiError `unavailable` if too many evaluations wait
 */
export async function mapRequest(
  evaluator: Pick<Evaluator, "evaluate">,
  request: VerifiedRequest,
  decoded: DecodedBody,
): Promise<MappedRequest> {
  const { receiving, raw, trigger } = request;
  const { filter, template } = receiving;
  const values = chosenValues(receiving, {
    headers: storedHeaders(receiving, raw),
    query: [...queryOf(raw)],
  });
  try {
    const { passes, message } = await evaluator.evaluate({
      tenant: trigger.workspaceId,
      filter,
      template,
      variables: variablesOf(request, decoded, values),
    });
    return {
      isFiltered: !passes,
      message: passes ? (message ?? withoutTemplate(values, decoded.text)) : "",
    };
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    const isLarge = Buffer.byteLength(decoded.text) > maxFailedPayloadBytes;
    return {
      isFiltered: false,
      message: isLarge ? "" : decoded.text,
      failure: messageOfFailure(thrown),
    };
  }
}

function variablesOf(
  { event, head }: VerifiedRequest,
  { payload, text, files }: DecodedBody,
  values: Pick<MappingVariables, "headers" | "query">,
): MappingVariables {
  return {
    payload: { format: payload === text ? "text" : "json", text },
    ...values,
    event,
    files: files.map(({ content: _, ...file }) => file),
    received_at: new Date(head.receivedAtMs).toISOString(),
  };
}

/** Returns the error of a run whose filter or template failed. */
export function mappingError(message: string): RunDetails["initial"] {
  return { code: "mapping_error", message };
}

function messageOfFailure({ part, line, message }: MappingError): string {
  const where = line === null ? "" : ` in line ${line}`;
  return `The ${part === "filter" ? "filter" : "message template"} of the trigger failed${where}: ${message}`;
}
