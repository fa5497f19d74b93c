import { createPriceBody, modelPrice, pricesQuery, updatePriceBody } from "@beckon/contract";
import { createPrice, deletePrice, getPrice, listPrices, updatePrice } from "../../prices/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../management/index.ts";

const priceOf = (request: ManagedRequest) => ({ priceId: request.param("price_id") });
const withBody = (request: ManagedRequest) => ({ ...priceOf(request), body: request.body });

export const priceRoutes: readonly ManagedRoute[] = [
  {
    method: "POST",
    path: "/prices",
    permission: "limits:write",
    doc: {
      id: "createPrice",
      summary: "Set price",
      description:
        "Sets the price of a model of one of the workspace's own providers, in micro-dollars for 1,000,000 tokens. It applies to runs that start or resume afterwards. Only the operator sets prices for the operator's providers.",
      body: createPriceBody,
      data: modelPrice,
      created: "/prices/:id",
      once: true,
      example: {
        model: "ollama/qwen3",
        input_micros_per_million: 50_000,
        output_micros_per_million: 200_000,
      },
    },
    handle: ({ ctx, body }) => createPrice({ ctx, input: { body } }),
  },
  {
    method: "GET",
    path: "/prices",
    permission: "providers:read",
    doc: {
      id: "listPrices",
      summary: "List prices",
      description:
        "What the models cost that agents use, and those for which the workspace set a price, in the order of their names.",
      query: pricesQuery,
      data: modelPrice,
      list: true,
    },
    handle: ({ ctx, query }) => listPrices({ ctx, input: { query } }),
  },
  {
    method: "GET",
    path: "/prices/:price_id",
    permission: "providers:read",
    doc: { id: "getPrice", summary: "Get price", data: modelPrice },
    handle: (request) => dataOf(getPrice({ ctx: request.ctx, input: priceOf(request) })),
  },
  {
    method: "PATCH",
    path: "/prices/:price_id",
    permission: "limits:write",
    doc: {
      id: "updatePrice",
      summary: "Update price",
      description:
        "null as the price of cached input or of cache writes means the price of input. Costs that were recorded stay.",
      body: updatePriceBody,
      data: modelPrice,
      example: { output_micros_per_million: 250_000 },
    },
    handle: (request) => dataOf(updatePrice({ ctx: request.ctx, input: withBody(request) })),
  },
  {
    method: "DELETE",
    path: "/prices/:price_id",
    permission: "limits:write",
    doc: {
      id: "deletePrice",
      summary: "Delete price",
      description: "The model then has the price that applies without it.",
    },
    handle: (request) => deletePrice({ ctx: request.ctx, input: priceOf(request) }),
  },
];
