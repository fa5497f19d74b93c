import type { JournalEvent } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useWorkspace } from "../../../data/index.ts";
import { formatBytes } from "../../../format/index.ts";
import { parseExactly } from "../../../json/index.ts";
import { Button, LinkButton, Problem, Skeleton } from "../../../ui/index.ts";
import { entryQuery } from "../journal/queries.ts";

type Data = JournalEvent["data"];

interface EntryDataProps {
  readonly runId: string;
  readonly seq: number;
  readonly children: (data: Data, entry: JournalEvent) => ReactNode;
}

/**
 * Loads a journal entry with its texts. Data above 64 KiB is loaded when the person asks for it; it
 * can also be downloaded.
 */
export function EntryData({ runId, seq, children }: EntryDataProps) {
  const { data: entry, error, refetch } = useQuery(entryQuery(useWorkspace(), runId, seq));
  if (entry) {
    const { artifact_id: artifactId, bytes } = entry.data;
    if (typeof artifactId !== "string") return children(entry.data, entry);
    return (
      <LargeData key={artifactId} runId={runId} artifactId={artifactId} bytes={Number(bytes)}>
        {(data) => children(data, entry)}
      </LargeData>
    );
  }
  if (entry === null) return <p className="text-ink-2">This run has no journal entry {seq}.</p>;
  if (error !== null)
    return <Problem error={error} title="The step could not be loaded." onRetry={refetch} />;
  return (
    <div>
      <Skeleton width={80} />
      <Skeleton width={60} />
      <Skeleton width={80} />
    </div>
  );
}

interface LargeDataProps {
  readonly runId: string;
  readonly artifactId: string;
  readonly bytes: number;
  readonly children: (data: Data) => ReactNode;
}

function LargeData({ runId, artifactId, bytes, children }: LargeDataProps) {
  const { id: workspaceId, client } = useWorkspace();
  const [wanted, setWanted] = useState(false);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [workspaceId, "artifacts", artifactId],
    queryFn: async ({ signal }) => {
      const file = await client.artifacts.get(runId, artifactId, { signal });
      return parseExactly(await file.text()) as Data;
    },
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    // The data can have several MB, so it is not cached when another step is selected.
    gcTime: 0,
  });
  if (data !== undefined) return children(data);
  const file = `/api/public/runs/${runId}/artifacts/${artifactId}?workspace=${workspaceId}`;
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-ink-2">
        {`This step has ${formatBytes(bytes)} of data, more than the page loads by itself.`}
      </p>
      {error === null ? null : <Problem error={error} title="The data could not be loaded." />}
      <div className="flex flex-wrap gap-2">
        <Button
          onClick={() => (wanted ? refetch() : setWanted(true))}
          pending={isFetching}
          pendingText="Loading…"
        >
          Show it here
        </Button>
        <LinkButton icon={Download} href={file} download={`${artifactId}.json`}>
          Download
        </LinkButton>
      </div>
    </div>
  );
}
