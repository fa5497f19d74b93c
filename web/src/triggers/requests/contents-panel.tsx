import type { ReceivedRequestDetails } from "@beckon/contract";
import { BodyText } from "../../json/index.ts";
import { ByteSize, CodeBlock, Pairs, Panel, Part } from "../../ui/index.ts";
import { hasContents, isSizeKnown } from "./contents.ts";

/** What a request contained: its query parameters, headers and body. HTML is shown as text. */
export function ContentsPanel({ request }: { readonly request: ReceivedRequestDetails }) {
  const { body, body_encoding, outcome } = request;
  const query = Object.entries(request.query).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  const headers = Object.entries(request.headers);
  return (
    <Panel title="Request">
      <div className="flex min-w-0 flex-col gap-4">
        {query.length === 0 ? null : (
          <Part title="Query parameters">
            <Pairs pairs={query} />
          </Part>
        )}
        {outcome === "invalid_signature" ? null : (
          <Part title="Headers">
            {hasContents(request) ? (
              <>
                <Pairs pairs={headers} />
                <p className="text-label text-ink-3">
                  Without credentials, cookies, secrets and signatures.
                </p>
              </>
            ) : (
              <p className="text-ink-3">Not stored</p>
            )}
          </Part>
        )}
        <Part
          title="Body"
          aside={
            isSizeKnown(request) ? (
              <span className="text-ink-3">
                <ByteSize bytes={request.size} />
              </span>
            ) : undefined
          }
        >
          {body === null ? (
            <p className="text-ink-2">
              {outcome === "invalid_signature"
                ? "It was not stored, because the request was not verified."
                : outcome === "rejected"
                  ? "It is not stored. The error says why the request was rejected."
                  : "It is not stored, or was deleted with its run."}
            </p>
          ) : body === "" ? (
            <p className="text-ink-3">Empty</p>
          ) : body_encoding === "base64" ? (
            <>
              <p className="text-label text-ink-3">It is not UTF-8 text. This is its base64.</p>
              <CodeBlock label="body" code={body} variant="wrap" />
            </>
          ) : (
            <BodyText label="Body" text={body} depth={3} fileName={`${request.id}.json`} />
          )}
        </Part>
      </div>
    </Panel>
  );
}
