import { checkProvider, createProvider, deleteProvider, getProvider, listProviders, updateProvider } from "../../providers/index.ts";
import type { ManagedRequest, ManagedRoute } from "../managed-route.ts";

const providerOf = (request: ManagedRequest) => ({ providerId: request.param("provider_id") });

export const providerRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/providers",
    permission: "providers:write",
    handle: async ({ ctx, body }) => {
      const { data, replayed } = await createProvider({ ctx, input: { body } });
      return { data, replayed, location: `/api/public/providers/${data.id}` };
    },
  },
  {
    method: "GET",
    path: "/providers",
    permission: "providers:read",
    handle: ({ ctx, query }) => listProviders({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/providers/:provider_id",
    permission: "providers:read",
    handle: async (request) => ({ data: await getProvider({ ctx: request.ctx, input: providerOf(request) }) }),
  },
  {
    method: "PATCH",
    path: "/providers/:provider_id",
    permission: "providers:write",
    handle: async (request) => ({
      data: await updateProvider({ ctx: request.ctx, input: { ...providerOf(request), body: request.body } }),
    }),
  },
  {
    method: "POST",
    path: "/providers/:provider_id/check",
    permission: "providers:write",
    handle: async (request) => {
      const ctx = { ...request.ctx, fetch: request.ctx.runtime.tenantFetch };
      return { data: await checkProvider({ ctx, input: { ...providerOf(request), body: request.body } }) };
    },
  },
  {
    method: "DELETE",
    path: "/providers/:provider_id",
    permission: "providers:write",
    handle: async (request) => {
      await deleteProvider({ ctx: request.ctx, input: providerOf(request) });
      return {};
    },
  },
];
