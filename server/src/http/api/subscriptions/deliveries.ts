import {
  deliveriesQuery,
  delivery,
  deliveryDetails,
  emptyBody,
  runDeliveriesQuery,
} from "@beckon/contract";
import {
  getDelivery,
  listDeliveries,
  listRunDeliveries,
  replayDelivery,
} from "../../../subscriptions/index.ts";
import { dataOf, type ManagedRequest, type ManagedRoute } from "../../management/index.ts";

const list = "/subscriptions/:subscription_id/deliveries";
const one = `${list}/:delivery_id`;

const subscriptionOf = (request: ManagedRequest) => ({
  subscriptionId: request.param("subscription_id"),
});
const deliveryOf = (request: ManagedRequest) => ({
  ...subscriptionOf(request),
  deliveryId: request.param("delivery_id"),
});

/** Routes of the deliveries of a subscription. */
export const deliveryRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: list,
    permission: "subscriptions:read",
    doc: {
      id: "listDeliveries",
      summary: "List deliveries",
      description:
        "All filters apply together. Each page searches a limited number of deliveries: it can hold fewer than `limit`, even none, and still have a `next`. Deliveries are kept for 30 days unless the operator has set another time.",
      query: deliveriesQuery,
      data: delivery,
      list: true,
    },
    handle: (request) =>
      listDeliveries({
        ctx: request.ctx,
        input: { ...subscriptionOf(request), query: request.query },
      }),
  },
  {
    method: "GET",
    path: one,
    permission: "subscriptions:read",
    doc: {
      id: "getDelivery",
      summary: "Get delivery",
      description:
        "The delivery with the body that is sent and its last 50 attempts. Extra headers and signatures are not stored with attempts. Without `runs:read`, `body` is null and each `response_body` is empty.",
      data: deliveryDetails,
    },
    handle: (request) =>
      dataOf(
        getDelivery({
          ctx: request.ctx,
          input: { ...deliveryOf(request), publicUrl: request.publicUrl },
        }),
      ),
  },
  {
    method: "POST",
    path: `${one}/replay`,
    permission: "subscriptions:write",
    doc: {
      id: "replayDelivery",
      summary: "Replay delivery",
      description:
        "Sends a delivery again at once, whatever its status is, with the same `webhook-id`. An attempt that is in progress continues and counts as the first one, so the delivery is sent again only if it fails. Events wait for the end of a delay that the receiver has requested with 429 or 503. 409 if its run was deleted.",
      body: emptyBody,
      bodyOptional: true,
      data: delivery,
      once: true,
    },
    handle: (request) =>
      replayDelivery({
        ctx: request.ctx,
        input: { ...deliveryOf(request), body: request.body },
      }),
  },
];

/** Routes of the deliveries about a run. */
export const runDeliveryRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/runs/:run_id/deliveries",
    permission: "subscriptions:read",
    alsoNeeds: "runs:read",
    doc: {
      id: "listRunDeliveries",
      summary: "List run deliveries",
      description: "What was delivered about a run, to all subscriptions.",
      query: runDeliveriesQuery,
      data: delivery,
      list: true,
    },
    handle: (request) =>
      listRunDeliveries({
        ctx: request.ctx,
        input: { runId: request.param("run_id"), query: request.query },
      }),
  },
];
