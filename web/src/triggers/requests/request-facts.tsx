import type { ReceivedRequestDetails } from "@beckon/contract";
import { useWorkspace } from "../../data/index.ts";
import {
  ByteSize,
  CopyButton,
  Fact,
  Facts,
  Id,
  Link,
  Time,
  UserText,
  useMedia,
} from "../../ui/index.ts";
import { isSizeKnown } from "./contents.ts";

/** When and from where a request arrived, and what it led to. */
export function RequestFacts({ request }: { readonly request: ReceivedRequestDetails }) {
  const { id } = useWorkspace();
  const isNarrow = !useMedia("(min-width: 640px)");
  const { run_id, event_id, content_type, address, replay_of, agent_id, trigger_id } = request;
  return (
    <Facts layout={isNarrow ? "grid" : "line"}>
      <Fact label="Received">
        <Time value={request.received_at} />
      </Fact>
      {run_id === null ? null : (
        <Fact label={request.outcome === "repeated" ? "Run of the first request" : "Run"}>
          <Link href={`/w/${id}/runs/${run_id}`}>
            <Id value={run_id} />
          </Link>
        </Fact>
      )}
      {event_id === null ? null : (
        <Fact label="Event id">
          <span className="max-w-96 min-w-0 font-mono text-dense">
            <UserText text={event_id} />
          </span>
          <CopyButton text={event_id} what="event id" />
        </Fact>
      )}
      {replay_of === null ? null : (
        <Fact label="Replay of">
          <Link href={`/w/${id}/agents/${agent_id}/triggers/${trigger_id}/requests/${replay_of}`}>
            <Id value={replay_of} />
          </Link>
        </Fact>
      )}
      <Fact label="Content type">
        <span className="max-w-60 min-w-0 font-mono text-dense">
          {content_type === null ? "–" : <UserText text={content_type} />}
        </span>
      </Fact>
      <Fact label="Size">{isSizeKnown(request) ? <ByteSize bytes={request.size} /> : "–"}</Fact>
      {address === null ? null : (
        <Fact label="Address">
          <span className="font-mono text-dense">{address}</span>
        </Fact>
      )}
    </Facts>
  );
}
