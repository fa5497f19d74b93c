import type { HttpOperation, HttpToolGrant, ValueSchema } from "@beckon/contract";
import { EgressDenied } from "../../../base/egress/index.ts";
import { fieldOf } from "../../../base/json-object.ts";
import { type Tool, type ToolContext, ToolFailure } from "../../tool.ts";
import { buildRequest, type HttpRequest } from "./build-request.ts";
import { asShown, type Opened, openUp } from "./fixed-members.ts";
import { type HttpResult, readResponse } from "./read-response.ts";
import { schemaMismatch } from "./schema-mismatch.ts";
import { scrubberFor } from "./scrub-secrets.ts";

/** What tools that call out are given. */
export interface ToolServices {
  /** The only way out. */
  readonly fetch: typeof fetch;
  /**
   * The text of a secret of this agent's, to be sent to this origin; undefined when it is gone or was not given for it. Read for each
   * call and never kept: a secret that is changed or taken away is so at once, everywhere.
   */
  readonly openSecret: (id: string, origin: string) => Promise<string | undefined>;
}

/**
 * `http`: each operation of the grant is a tool. The model names an operation and fills in typed values; where the request goes, how,
 * and with which secrets is the configuration's. What the server answers is a result, whatever its status.
 */
export function httpTools(grant: HttpToolGrant, services: ToolServices): Tool[] {
  return grant.operations.map((operation) => httpTool(grant, operation, services));
}

function httpTool(grant: HttpToolGrant, operation: HttpOperation, services: ToolServices): Tool {
  const body = operation.body === undefined ? undefined : openUp(operation.body);
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
    parameters: asShown(schema) as Tool["parameters"],
    safeToRepeat: operation.safe_to_repeat,
    budget: { name: grant.name, calls: grant.max_calls_per_run },
    check(args) {
      const found = schemaMismatch(schema, args);
      if (found !== undefined) return found;
      try {
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

/** What the model is asked for: the parameters, and what is left open of the body. */
function argumentsOf({ parameters }: HttpOperation, body: Opened | undefined): ValueSchema {
  if (body?.open === undefined) return parameters;
  const required = [...(parameters.required ?? []), "body"];
  return { ...parameters, properties: { ...parameters.properties, body: body.open }, required };
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
  for (const { where, name, secret } of request.secrets) {
    const text = await services.openSecret(secret.secret_id, request.origin);
    if (text === undefined) {
      throw new ToolFailure(
        `${operation.name} was not called: its credential is gone, or is not for this address. Who configures the agent must give it again.`,
      );
    }
    secrets.push(text);
    const value = (secret.prefix ?? "") + text;
    if (where === "header") headers.set(name.toLowerCase(), value);
    else
      target += `${target.includes("?") ? "&" : "?"}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  if (operation.idempotency_header !== undefined)
    headers.set(operation.idempotency_header.toLowerCase(), context.idempotencyKey);

  const timeUp = AbortSignal.timeout(grant.timeout_seconds * 1_000);
  try {
    const response = await services.fetch(request.origin + target, {
      method: request.method,
      headers: Object.fromEntries(headers),
      redirect: "manual",
      signal: AbortSignal.any([context.signal, timeUp]),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    return await readResponse(response, {
      maxBytes: grant.max_response_bytes,
      scrubber: scrubberFor(secrets),
      hold: context.hold,
    });
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (thrown instanceof ToolFailure) throw thrown;
    const effect = operation.safe_to_repeat ? "" : " It may or may not have taken effect.";
    if (timeUp.aborted)
      throw new ToolFailure(
        `There was no whole answer within ${grant.timeout_seconds} seconds.${effect}`,
      );
    if (thrown instanceof EgressDenied) throw new ToolFailure(thrown.message);
    throw new ToolFailure(`The call failed${codeOf(thrown)}.${effect}`);
  }
}

/** The code of a failed connection. Its message is left out: it holds addresses. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : "";
}
