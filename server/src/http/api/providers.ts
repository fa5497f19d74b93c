import {
  createProviderBody,
  emptyBody,
  modelList,
  pageQuery,
  provider,
  providerCheck,
  updateProviderBody,
} from "@beckon/contract";
import {
  checkProvider,
  createProvider,
  deleteProvider,
  getProvider,
  listModels,
  listProviders,
  updateProvider,
} from "../../providers/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const providerOf = (request: ManagedRequest) => ({ providerId: request.param("provider_id") });
const withBody = (request: ManagedRequest) => ({ ...providerOf(request), body: request.body });

export const providerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/providers",
    permission: "providers:write",
    doc: {
      id: "createProvider",
      summary: "Create provider",
      description:
        "The host of base_url must be public, unless the operator of Beckon names it in BECKON_EGRESS_ALLOW. `free` needs `limits:write` as well.",
      body: createProviderBody,
      data: provider,
      created: "/providers/:id",
      once: true,
      example: { name: "ollama", kind: "openai-compatible", base_url: "http://127.0.0.1:11434/v1" },
    },
    handle: ({ ctx, body }) => createProvider({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/providers",
    permission: "providers:read",
    doc: {
      id: "listProviders",
      summary: "List providers",
      description:
        "The workspace's own, then the operator's: accounts of the environment, and model servers found on Beckon's machine.",
      query: pageQuery,
      data: provider,
      list: true,
    },
    handle: ({ ctx, query }) => listProviders({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/providers/:provider_id",
    permission: "providers:read",
    doc: { id: "getProvider", summary: "Get provider", data: provider },
    handle: (request) => dataOf(getProvider({ ctx: request.ctx, input: providerOf(request) })),
  },
  {
    method: "PATCH",
    path: "/providers/:provider_id",
    permission: "providers:write",
    doc: {
      id: "updateProvider",
      summary: "Update provider",
      description:
        "null removes the key, or restores the default address of the kind. If a key is stored, a `base_url` of another origin (scheme, host, port) needs `api_key` in the same request: a key is sent only to the origin for which it was set. A change of `free`, or of the `base_url` of a provider that is free or has prices, needs `limits:write` as well.",
      errors: ["conflict"],
      body: updateProviderBody,
      data: provider,
      example: { api_key: "sk-secret" },
    },
    handle: (request) => dataOf(updateProvider({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "POST",
    path: "/providers/:provider_id/check",
    permission: "providers:write",
    changesNothing: true,
    doc: {
      id: "checkProvider",
      summary: "Check provider",
      description:
        "Requests the provider's list of models to test its address and key. Changes nothing. A model server of Beckon's machine is requested at most every 30 seconds.",
      body: emptyBody,
      bodyOptional: true,
      data: providerCheck,
      errors: ["secret_unreadable"],
    },
    handle: (request) => dataOf(checkProvider({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/providers/:provider_id",
    permission: "providers:write",
    doc: {
      id: "deleteProvider",
      summary: "Delete provider",
      description:
        "Fails while an agent uses the provider, and for a provider of the operator. Deletes the prices of its models too.",
      errors: ["conflict"],
    },
    handle: (request) => deleteProvider({ ctx: request.ctx, input: providerOf(request) }),
  },
  {
    method: "GET",
    path: "/models",
    permission: "providers:read",
    doc: {
      id: "listModels",
      summary: "List the models that agents can use",
      description:
        "One item for each provider of GET /providers, and one for the built-in demo/echo. A provider that does not " +
        "list its models in time has an error in their place. Lists are up to 30 seconds old.",
      query: pageQuery,
      data: modelList,
      list: true,
    },
    handle: ({ ctx, query }) => listModels({ ctx, input: { query } }),
  },
];
