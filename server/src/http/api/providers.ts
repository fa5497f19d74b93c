import {
  createProviderBody,
  emptyBody,
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
  listProviders,
  updateProvider,
} from "../../providers/index.ts";
import type { ManagedRequest, ManagedRoute } from "../management/index.ts";

const providerOf = (request: ManagedRequest) => ({ providerId: request.param("provider_id") });

export const providerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/providers",
    permission: "providers:write",
    doc: {
      id: "createProvider",
      summary: "Add a provider of models",
      body: createProviderBody,
      data: provider,
      created: true,
      once: true,
      example: { name: "ollama", kind: "openai-compatible", base_url: "http://127.0.0.1:11434/v1" },
    },
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createProvider({ ctx, input: { body } });
      return { data, replayed, location: `/api/public/providers/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/providers",
    permission: "providers:read",
    doc: {
      id: "listProviders",
      summary: "List providers",
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
    doc: { id: "getProvider", summary: "Read a provider", data: provider },
    handle: async (request) => ({
      data: await getProvider({ ctx: request.ctx, input: providerOf(request) }),
    }),
  },
  {
    method: "PATCH",
    path: "/providers/:provider_id",
    permission: "providers:write",
    doc: {
      id: "updateProvider",
      summary: "Change a provider's address or key",
      description:
        "null removes the key, or goes back to the kind's own address. A base_url of another origin (scheme, host, port) " +
        "needs api_key in the same request if a key is stored: a key is sent only to the origin it was given for.",
      body: updateProviderBody,
      data: provider,
      example: { api_key: "sk-secret" },
    },
    handle: async (request) => ({
      data: await updateProvider({
        ctx: request.ctx,
        input: { ...providerOf(request), body: request.body },
      }),
    }),
  },
  {
    method: "POST",
    path: "/providers/:provider_id/check",
    permission: "providers:write",
    doc: {
      id: "checkProvider",
      summary: "Ask a provider for its models",
      description: "Says whether address and key work; changes nothing.",
      body: emptyBody,
      bodyOptional: true,
      data: providerCheck,
      errors: ["secret_unreadable"],
    },
    handle: async (request) => {
      const ctx = { ...request.ctx, fetch: request.ctx.egress.fetch };
      return {
        data: await checkProvider({ ctx, input: { ...providerOf(request), body: request.body } }),
      };
    },
  },
  {
    method: "DELETE",
    path: "/providers/:provider_id",
    permission: "providers:write",
    doc: {
      id: "deleteProvider",
      summary: "Delete a provider",
      description: "Refused while an agent uses it.",
      errors: ["conflict"],
    },
    handle: async (request) => {
      await deleteProvider({ ctx: request.ctx, input: providerOf(request) });
      return {};
    },
  },
];
