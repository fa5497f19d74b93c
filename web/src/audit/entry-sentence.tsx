import type { AuditEntry } from "@beckon/client";
import { useRouter } from "@tanstack/react-router";
import { Fragment } from "react";
import { resourcePath, useWorkspace } from "../data/index.ts";
import { shortenId } from "../format/index.ts";
import { Link } from "../ui/index.ts";
import { actorText, type Names, sentenceParts, sentenceText } from "./sentence.ts";

interface EntrySentenceProps {
  readonly entry: AuditEntry;
  readonly names: Names;
}

const isolated = "[&_bdi]:inline-block [&_bdi]:max-w-[40%] [&_bdi]:truncate [&_bdi]:align-bottom";

/** A sentence that says who did what to which resource. Resources are links to their screens. */
export function EntrySentence({ entry, names }: EntrySentenceProps) {
  return (
    // Each long name is truncated with its own ellipsis, so that the other parts of the sentence
    // stay visible.
    <span title={sentenceText(entry, names)} className={isolated}>
      <bdi dir="auto" className="font-semibold">
        {actorText(entry.actor, names)}
      </bdi>{" "}
      {sentenceParts(entry).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence do not move
        <Fragment key={index}>
          {typeof part === "string" ? part : <Thing id={part.id} names={names} />}
        </Fragment>
      ))}
    </span>
  );
}

interface ThingProps {
  readonly id: string;
  readonly names: Names;
}

/** A resource by its name or its shortened id. It is a link if the resource has a screen. */
export function Thing({ id, names }: ThingProps) {
  const workspace = useWorkspace();
  const { routesById } = useRouter();
  const path = resourcePath(id, workspace.id, Object.keys(routesById));
  const name = names.get(id);
  const text =
    name === undefined ? (
      <span className="font-mono text-dense">{shortenId(id)}</span>
    ) : (
      <bdi dir="auto">{name}</bdi>
    );
  if (path === undefined) return text;
  return (
    // The row has a link that covers the whole row. This link is above the row's link, so that it
    // can be clicked.
    <span className="relative z-1">
      <Link href={`/w/${workspace.id}${path}`} variant="quiet">
        {text}
      </Link>
    </span>
  );
}
