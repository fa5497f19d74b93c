import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A receiver of deliveries in its own process. The argument is `fast`, which accepts each delivery
 * at once, or `hanging`, which never responds. The process sends its port to the parent process. It
 * replies to each message of the parent with the number of requests received so far.
 */
const hangs = process.argv[2] === "hanging";
let received = 0;
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    received += 1;
    if (!hangs) response.writeHead(204).end();
  });
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.on("message", () => process.send?.({ received }));
process.on("disconnect", () => process.exit());
