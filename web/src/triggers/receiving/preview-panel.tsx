import type { Preset, Preview, ReceivedRequest } from "@beckon/contract";
import type { ReactNode } from "react";
import { sentenceOf, useWorkspace } from "../../data/index.ts";
import { formatTime } from "../../format/index.ts";
import {
  Badge,
  Field,
  Panel,
  SegmentedControl,
  Select,
  Skeleton,
  TextArea,
  useNow,
  useTimeZone,
} from "../../ui/index.ts";
import { payloadTypes } from "../input/payload.ts";
import { SeenParts } from "./seen-parts.tsx";
import { exampleChoice, type OwnPayload, type TrialChoice } from "./trial.ts";

interface PreviewPanelProps {
  readonly choice: TrialChoice;
  readonly onChoose: (choice: TrialChoice) => void;
  readonly requests: readonly ReceivedRequest[];
  readonly preset: Preset | undefined;
  readonly own: OwnPayload;
  readonly onOwnChange: (own: OwnPayload) => void;
  readonly preview: Preview | undefined;
  readonly error: Error | null;
  /** True if the typed settings are not valid, so that `preview` is that of earlier settings. */
  readonly isStale: boolean;
  /** The button that starts a run, and its result. */
  readonly children: ReactNode;
}

/** Shows what the model would see of a request with the settings as they are typed. */
export function PreviewPanel({
  choice,
  onChoose,
  requests,
  preset,
  own,
  onOwnChange,
  preview,
  error,
  isStale,
  children,
}: PreviewPanelProps) {
  const { can } = useWorkspace();
  const nowMs = useNow();
  const zone = useTimeZone();
  const nameOf = ({ event_type, content_type, received_at }: ReceivedRequest) =>
    `${event_type ?? content_type ?? "Request"}, ${formatTime(received_at, nowMs, zone)}`;
  return (
    <Panel title="Preview">
      <div className="flex min-w-0 flex-col gap-4">
        <Field label="Made of">
          <Select
            value={choice}
            onChange={({ target }) => onChoose(target.value)}
            options={[
              ...(requests.length === 0 || !can("runs:read")
                ? []
                : [
                    {
                      group: "Received requests",
                      options: requests.map((request) => ({
                        value: `request:${request.id}`,
                        label: nameOf(request),
                      })),
                    },
                  ]),
              ...(preset === undefined || preset.examples.length === 0
                ? []
                : [
                    {
                      group: `Examples of ${preset.title}`,
                      options: preset.examples.map((example) => ({
                        value: exampleChoice(preset, example),
                        label: example.name,
                      })),
                    },
                  ]),
              { value: "own", label: "A payload of your own" },
            ]}
          />
        </Field>
        {choice === "own" ? <OwnFields own={own} onChange={onOwnChange} /> : null}
        {error === null ? null : (
          <p role="alert" className="break-words text-flare">
            {sentenceOf(error)}
          </p>
        )}
        {preview === undefined ? (
          error === null ? (
            <div className="h-40" aria-busy="true">
              <Skeleton width={80} />
              <Skeleton width={60} />
            </div>
          ) : null
        ) : (
          <div className={`flex min-w-0 flex-col gap-2 ${isStale ? "opacity-60" : ""}`}>
            <div className="flex min-h-6 min-w-0 flex-wrap items-center gap-2">
              <h3 className="text-label font-semibold text-ink-2">The model sees</h3>
              <Passes preview={preview} />
            </div>
            {isStale ? (
              <p className="text-dense text-ink-2">
                Correct the settings that are marked. This is the last preview.
              </p>
            ) : null}
            {preview.input === null ? (
              <p className="text-dense text-ink-2">
                {preview.passes === false
                  ? "Nothing: the request is stored and starts no run."
                  : "Nothing: correct the mistake that is marked in the settings."}
              </p>
            ) : (
              <SeenParts parts={preview.parts} marked />
            )}
            <EventLine preview={preview} />
          </div>
        )}
        {children}
      </div>
    </Panel>
  );
}

function Passes({ preview: { passes, mistakes } }: { readonly preview: Preview }) {
  if (mistakes.length > 0) return <Badge tone="flare">Mistake</Badge>;
  return passes === false ? <Badge tone="brass">Filtered out</Badge> : null;
}

/** The type and the id of the event, as the settings find them in the request. */
function EventLine({ preview: { event_type, event_id } }: { readonly preview: Preview }) {
  const found = [
    ["Event type", event_type],
    ["Event id", event_id],
  ] as const;
  return (
    <dl className="flex min-w-0 flex-col text-label text-ink-3">
      {found.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="flex min-w-0 gap-1">
            <dt className="shrink-0">{name}</dt>
            <dd className="min-w-0 truncate font-mono">
              <bdi>{value}</bdi>
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

function OwnFields({
  own,
  onChange,
}: {
  readonly own: OwnPayload;
  readonly onChange: (own: OwnPayload) => void;
}) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Field label="Payload">
        <TextArea
          mono
          rows={4}
          spellCheck={false}
          value={own.text}
          onChange={({ target }) => onChange({ ...own, text: target.value })}
        />
      </Field>
      <div className="flex">
        <SegmentedControl
          label="Content type"
          options={payloadTypes}
          value={own.type}
          onChange={(type) => onChange({ ...own, type })}
        />
      </div>
      <Field label="Headers" optional hint="One name: value per line.">
        <TextArea
          mono
          rows={1}
          spellCheck={false}
          value={own.headers}
          onChange={({ target }) => onChange({ ...own, headers: target.value })}
          placeholder="x-event: order.paid"
        />
      </Field>
    </div>
  );
}
