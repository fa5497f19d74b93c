import type { AgentVersionEntry } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Badge, Button, List, Row, Time } from "../../ui/index.ts";
import { useAgentId } from "../queries.ts";
import { Actor } from "./actor.tsx";

interface VersionListProps {
  readonly versions: readonly AgentVersionEntry[];
  /** The version that new runs use. */
  readonly currentVersion: number;
  /** The version whose changes are shown. */
  readonly open: number;
  readonly onRestore: (version: number) => void;
}

/**
 * Returns the version with which another one is compared by default: the one before it. The first
 * one is compared with the current version, which shows what its restoration would change.
 */
export const comparedWith = (version: number, currentVersion: number) =>
  version > 1 ? version - 1 : currentVersion;

/** The versions, newest first. A click on a version shows its changes. */
export function VersionList({ versions, currentVersion, open, onRestore }: VersionListProps) {
  const { id, whyNot } = useWorkspace();
  // The path must be complete: the router resolves a URL that begins with `?` from the path `/`.
  const path = `/w/${id}/agents/${useAgentId()}/versions`;
  return (
    <List label="Versions">
      {versions.map(({ version, created_at, created_by }) => (
        <Row
          key={version}
          href={`${path}?from=${comparedWith(version, currentVersion)}&to=${version}`}
          current={version === open}
          title={`Version ${version}`}
          detail={
            <>
              <Actor value={created_by} /> · <Time value={created_at} />
            </>
          }
          end={
            version === currentVersion ? (
              <Badge>Current</Badge>
            ) : (
              <Button
                size="small"
                variant="quiet"
                aria-label={`Restore version ${version}`}
                onClick={() => onRestore(version)}
                disabledReason={whyNot("agents:write")}
              >
                Restore
              </Button>
            )
          }
        />
      ))}
    </List>
  );
}
