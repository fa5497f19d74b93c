import type { OpenapiDocument } from "../openapi/index.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Schema;
}

export type Schema = Readonly<Record<string, unknown>>;

export type Content = Readonly<
  Record<string, { readonly schema?: Schema; readonly example?: unknown }>
>;

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content?: Content;
}

/** An operation of the OpenAPI document, in the form from which the pages at `/docs` are made. */
export interface Operation {
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The credential that the samples of the operation use. */
  readonly credential: "none" | "token" | "key" | "session";
  readonly parameters: readonly Parameter[];
  readonly requestBody: { readonly required?: boolean; readonly content: Content } | undefined;
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

/** The fields of an operation object that the documentation reads. */
interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Operation["requestBody"];
  readonly responses: Readonly<Record<string, ApiResponse | Reference>>;
}

interface Reference {
  readonly $ref: string;
}

/**
 * Returns all operations of the OpenAPI document, with references to parameters and responses
 * resolved.
 */
export function operationsOf(document: OpenapiDocument): Operation[] {
  const { components } = document;
  const resolve = <Value extends object>(shared: object, value: Value | Reference): Value =>
    "$ref" in value ? ((shared as Schema)[value.$ref.split("/").at(-1) ?? ""] as Value) : value;
  return Object.entries(document.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, object]): Operation => {
      const { operationId, tags, summary, description = "", ...rest } = object as OperationObject;
      const { security, parameters = [], requestBody, responses } = rest;
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        tag: tags[0] ?? "",
        summary,
        description,
        credential: credentialOf(operationId, security),
        parameters: parameters.map((each) => resolve<Parameter>(components.parameters, each)),
        requestBody,
        // The chapter about errors has those that every operation can return.
        responses: Object.fromEntries(
          Object.entries(responses)
            .filter(([status]) => status !== "default")
            .map(([status, each]) => [status, resolve<ApiResponse>(components.responses, each)]),
        ),
      };
    }),
  );
}

/**
 * Returns the credential that an operation's samples use. Without `security` it is a key or, for
 * `invokeAgent`, the agent's token. If `security` or one of its requirements is empty, there is
 * none. Otherwise it is a session.
 */
function credentialOf(id: string, security: OperationObject["security"]): Operation["credential"] {
  if (security === undefined) return id === "invokeAgent" ? "token" : "key";
  const isOptional = security.some((scheme) => Object.keys(scheme).length === 0);
  return isOptional || security.length === 0 ? "none" : "session";
}
