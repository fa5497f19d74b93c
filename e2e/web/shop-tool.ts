/** Returns an HTTP tool of a shop with two operations: `get_order` and `refund`. */
export function shopTool({ host, url }: { readonly host: string; readonly url: string }): object {
  return {
    type: "http",
    name: "shop",
    allowed_hosts: [host],
    headers: { Authorization: { secret: "shop-secret-0123456789" } },
    operations: [
      {
        name: "get_order",
        description: "Returns an order.",
        method: "GET",
        url: `${url}/orders/{order_id}`,
        parameters: {
          type: "object",
          properties: { order_id: { type: "integer", description: "Number of the order" } },
          required: ["order_id"],
        },
      },
      {
        name: "refund",
        description: "Pays an amount back.",
        method: "POST",
        url: `${url}/refunds`,
        body: {
          type: "object",
          properties: { order_id: { type: "integer" }, amount: { type: "number" } },
          required: ["order_id", "amount"],
        },
      },
    ],
  };
}
