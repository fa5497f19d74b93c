import { definePreset } from "./define-preset.ts";

export const cloudevents = definePreset({
  name: "cloudevents",
  title: "CloudEvents 1.0 (Azure Event Grid, Knative and others)",
  instructions:
    "In the sender's subscription, choose the schema CloudEvents 1.0 and enter the URL as the endpoint; the URL itself is the credential, and if the sender can add an Authorization header, also set a secret header here.",
  url: "https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md",
  secret_from: "none",
  settings: {
    // The specification has no signature. A sender authorizes itself with a token in the header
    // Authorization or in the URL, and the trigger's URL contains a token.
    verification: { kind: "none" },
    handshake: "cloudevents",
    event_id: "cloudevents",
    event_type: "cloudevents",
    headers: ["ce-type", "ce-source", "ce-subject", "ce-time"],
  },
  examples: [
    {
      name: "structured",
      query: {},
      headers: {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "webhook-request-origin": "eventgrid.azure.net",
      },
      body: JSON.stringify({
        specversion: "1.0",
        type: "Microsoft.Storage.BlobCreated",
        source:
          "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/example/providers/Microsoft.Storage/storageAccounts/example",
        id: "9aeb0fdf-c01e-0131-0922-9eb54906e209",
        time: "2026-01-05T20:00:27.877Z",
        subject: "blobServices/default/containers/reports/blobs/january.csv",
        data: {
          api: "PutBlockList",
          contentType: "text/csv",
          contentLength: 4_096,
          url: "https://example.blob.core.windows.net/reports/january.csv",
        },
      }),
    },
    {
      name: "binary",
      query: {},
      headers: {
        "content-type": "application/json",
        "ce-specversion": "1.0",
        "ce-type": "com.example.order.created",
        "ce-source": "/orders",
        "ce-id": "A234-1234-1234",
        "ce-time": "2026-01-05T20:00:27.877Z",
        "ce-subject": "123",
      },
      body: JSON.stringify({ order: 123, total: "19.99" }),
    },
  ],
});
