import type { HttpOperation, HttpToolGrant, ValueSchema } from "@beckon/contract";
import { linkAbort } from "../../../base/abort.ts";
import { EgressDenied, meterCalls } from "../../../base/egress/index.ts";
import { fieldOf } from "../../../base/json/index.ts";
import { scrubberFor } from "../../../base/secrets/index.ts";
import { type Tool, type ToolContext, ToolFailure } from "../../tool.ts";
import { buildRequest, type HttpRequest } from "./build-request.ts";
import { type SplitBody, schemaForModel, splitFixedFields } from "./fixed-fields.ts";
import { type HttpResult, readResponse } from "./read-response.ts";
import { schemaMismatch } from "./schema-mismatch.ts";

/** The services that HTTP tools need. */
export interface ToolServices {
  /** Sends a request and enforces the egress rules. Tools have no other way to send a request. */
  readonly fetch: typeof fetch;
  /**
   * Returns the text of a secret of this agent for this origin. Returns undefined if the secret was
   * deleted, is not bound to this origin or cannot be decrypted. Tools call this function for each
   * request and never cache the text, so that the change or deletion of a secret takes effect
   * immediately. Waits while the database is unavailable, at most until `signal` aborts.
   */
  readonly openSecret: (
    id: string,
    origin: string,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
}

/**
 * Returns one tool for each operation of an `http` grant. The model chooses an operation and its
 * values. The configuration determines everything else, such as the host, the method and the
 * secrets. An HTTP response is a result and not an error, regardless of its status.
 */
export function httpTools(grant: HttpToolGrant, services: ToolServices): Tool[] {
  return grant.operations.map((operation) => httpTool(grant, operation, services));
}

function httpTool(grant: HttpToolGrant, operation: HttpOperation, services: ToolServices): Tool {
  const body = operation.body === undefined ? undefined : splitFixedFields(operation.body);
  const schema = argumentsOf(operation, body);
  const requestOf = (args: unknown) =>
    buildRequest(
      grant,
      operation,
      valuesOf(operation, args),
      body?.complete(fieldOf(args, "body")),
    );
  return {
    name: operation.name,
    description: operation.description,
    parameters: schemaForModel(schema) as Tool["parameters"],
    safeToRepeat: operation.safe_to_repeat,
    budget: { name: grant.name, calls: grant.max_calls_per_run },
    check(args) {
      try {
        const found = schemaMismatch(schema, args);
        if (found !== undefined) return found;
        requestOf(args);
        return undefined;
      } catch (thrown) {
        if (thrown instanceof ToolFailure) return thrown.message.replace(/\.$/, "");
        throw thrown;
      }
    },
    execute: (args, context) => send(requestOf(args), { grant, operation, services, context }),
  };
}

/**
 * Returns the schema of the arguments that the model sends: the parameters, and the part of the
 * body that is not constant.
 */
function argumentsOf({ parameters }: HttpOperation, body: SplitBody | undefined): ValueSchema {
  if (body?.modelSchema === undefined) return parameters;
  const required = [...(parameters.required ?? []), "body"];
  return {
    ...parameters,
    properties: { ...parameters.properties, body: body.modelSchema },
    required,
  };
}

function valuesOf({ parameters }: HttpOperation, args: unknown): Map<string, unknown> {
  const names = Object.entries(parameters.properties ?? {});
  return new Map(names.map(([name, schema]) => [name, fieldOf(args, name) ?? schema.default]));
}

interface Sending {
  readonly grant: HttpToolGrant;
  readonly operation: HttpOperation;
  readonly services: ToolServices;
  readonly context: ToolContext;
}

async function send(
  request: HttpRequest,
  { grant, operation, services, context }: Sending,
): Promise<HttpResult> {
  const headers = new Map(request.headers);
  const secrets: string[] = [];
  let target = request.target;
  for (const { location, name, secret } of request.secrets) {
    const text = await services.openSecret(secret.secret_id, request.origin, context.signal);
    if (text === undefined) {
      throw new ToolFailure(
        `${operation.name} was not called: its credential was never entered, was deleted, cannot be decrypted or is not bound to this origin. Ask the agent's administrator to enter it again.`,
      );
    }
    secrets.push(text);
    const value = (secret.prefix ?? "") + text;
    if (location === "header") headers.set(name.toLowerCase(), value);
    else
      target += `${target.includes("?") ? "&" : "?"}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  // A header `traceparent` in the operation's configuration takes precedence.
  if (context.traceparent !== undefined && !headers.has("traceparent"))
    headers.set("traceparent", context.traceparent);
  if (operation.idempotency_header !== undefined)
    headers.set(operation.idempotency_header.toLowerCase(), context.idempotencyKey);

  const { controller: call, release } = linkAbort(context.signal);
  const timer = setTimeout(() => call.abort(), grant.timeout_seconds * 1_000);
  let isSent = false;
  meterCalls(call.signal, {
    sent: () => {
      isSent = true;
    },
  });
  try {
    const response = await services.fetch(request.origin + target, {
      method: request.method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      signal: call.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    return await readResponse(response, {
      maxBytes: grant.max_response_bytes,
      scrubber: scrubberFor(secrets),
      memory: context.memory,
    });
  } catch (thrown) {
    context.signal.throwIfAborted();
    // Without a connection, the server received nothing.
    const effect =
      operation.safe_to_repeat || !isSent ? "" : " The call may or may not have taken effect.";
    if (thrown instanceof ToolFailure) throw new ToolFailure(`${thrown.message}${effect}`);
    if (call.signal.aborted)
      throw new ToolFailure(
        `The server did not send a complete response within ${grant.timeout_seconds} seconds.${effect}`,
      );
    if (thrown instanceof EgressDenied) throw new ToolFailure(thrown.message);
    throw new ToolFailure(`The call failed${codeOf(thrown)}.${effect}`);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/**
 * Returns the error code of a failed connection in parentheses, or no text if the error has no
 * code. The error's message is not returned, because it contains addresses.
 */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : "";
}
