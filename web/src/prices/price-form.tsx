import type { ModelPrice } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  announceChanges,
  announceIfOutdated,
  changesOf,
  codeOf,
  failureOf,
  fieldErrorOf,
  isOutcomeUnknown,
  useIdempotencyKey,
  useWorkspace,
} from "../data/index.ts";
import { formatPrice, readDollars, writeDollars } from "../format/index.ts";
import { Banner, Field, FormDialog, FormError, TextInput, useToast } from "../ui/index.ts";
import { pricesKey } from "./queries.ts";

interface PriceFormProps {
  readonly price: ModelPrice;
  readonly close: () => void;
}

/** Maximum price for 1,000,000 tokens in dollars: `maxMicrosPerMillion` of the contract. */
const maxDollars = 2_000;

const again = "Press Set price again: setting it twice does no harm.";

const fields = [
  { name: "input_micros_per_million", label: "Input", optional: false },
  { name: "output_micros_per_million", label: "Output", optional: false },
  { name: "cached_input_micros_per_million", label: "Input from the cache", optional: true },
  { name: "cache_write_micros_per_million", label: "Input written to the cache", optional: true },
] as const;

type FieldName = (typeof fields)[number]["name"];
type Typed = Readonly<Record<FieldName, string>>;

/** The form that sets the workspace's own price of a model. */
export function PriceForm({ price, close }: PriceFormProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { keyOf } = useIdempotencyKey();
  // `price` changes if somebody else saves it. The form compares with the price that it was opened
  // with: otherwise fields that this person did not edit would be sent with their old values. If
  // that price did not exist or was deleted, the form sets all values that it shows.
  const [opened] = useState(price);
  const base = opened.id === price.id ? opened : price;
  const [initial] = useState(() => typedOf(opened));
  const [typed, setTyped] = useState(initial);
  const [isTouched, setTouched] = useState(false);
  const read = Object.fromEntries(
    fields.map(({ name, optional }) => [
      name,
      optional && typed[name].trim() === ""
        ? { micros: null, error: undefined }
        : readDollars(typed[name], maxDollars),
    ]),
  ) as Readonly<Record<FieldName, { micros?: number | null; error?: string | undefined }>>;
  const save = useMutation({
    mutationFn: () => {
      const rates = {
        input_micros_per_million: read.input_micros_per_million.micros ?? 0,
        output_micros_per_million: read.output_micros_per_million.micros ?? 0,
        cached_input_micros_per_million: read.cached_input_micros_per_million.micros ?? null,
        cache_write_micros_per_million: read.cache_write_micros_per_million.micros ?? null,
      };
      if (base.id !== null)
        return client.prices.update(base.id, changesOf({ ...base.current }, rates));
      const body = { model: price.model, ...rates };
      return client.prices.create(body, { idempotencyKey: keyOf(body) });
    },
    onSuccess: ({ model }) => {
      toast({ tone: "success", title: `Set the price of ${model}` });
      void announceChanges(queryClient, pricesKey(workspaceId));
    },
    onError: (thrown) => {
      const refetched = announceIfOutdated(queryClient, thrown, pricesKey(workspaceId));
      // After a conflict, the button stays pending until the form knows the price that exists: the
      // next attempt would end with a conflict again. Without a connection, the refetch takes long.
      return isOutcomeUnknown(thrown) ? undefined : refetched;
    },
  });
  return (
    <FormDialog
      isDirty={() => fields.some(({ name }) => typed[name] !== initial[name])}
      isSaved={save.isSuccess}
      close={close}
      size="small"
      title={`Price of ${price.model}`}
      description="In dollars for 1,000,000 tokens. It applies to runs that start or resume from now on."
      onSubmit={({ currentTarget }) => {
        setTouched(true);
        const wrong = fields.find(({ name }) => read[name].error !== undefined);
        if (wrong === undefined) save.mutate();
        else currentTarget.querySelector<HTMLElement>(`[name="${wrong.name}"]`)?.focus();
      }}
      submit={{ label: "Set price", pending: save.isPending, pendingText: "Setting…" }}
    >
      {fields.map(({ name, label, optional }, index) => (
        <Field
          key={name}
          label={label}
          optional={optional}
          hint={optional ? "Without it, the price of input." : undefined}
          error={isTouched ? read[name].error : undefined}
        >
          <TextInput
            name={name}
            value={typed[name]}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
            inputMode="decimal"
            autoComplete="off"
            suffix={<span className="pr-1">dollars</span>}
            autoFocus={index === 0}
          />
        </Field>
      ))}
      {base.id !== null && base.id !== opened.id && base.current !== null ? (
        <Banner>
          {`This model has a price by now: ${formatPrice(base.current.input_micros_per_million)} for input and ${formatPrice(base.current.output_micros_per_million)} for output. You replace it here.`}
        </Banner>
      ) : null}
      <FormError
        error={
          !save.isError
            ? undefined
            : isSetMeanwhile(save.error)
              ? "The price was not set, because the model has one by now. Set it again to replace it."
              : failureOf(save.error, "the price was set", again)
        }
      />
    </FormDialog>
  );
}

/**
 * Returns whether the model has got a price since the form was opened. The API's message names the
 * route that changes it. Other conflicts are about the field `model`.
 */
function isSetMeanwhile(thrown: Error): boolean {
  return codeOf(thrown) === "conflict" && fieldErrorOf(thrown, { model: "model" }) === undefined;
}

/** Returns the workspace's own price as texts for the form; empty texts if it has set none. */
function typedOf({ id, current }: ModelPrice): Typed {
  const text = (name: FieldName) => {
    const micros = id === null ? null : (current?.[name] ?? null);
    return micros === null ? "" : writeDollars(micros);
  };
  return {
    input_micros_per_million: text("input_micros_per_million"),
    output_micros_per_million: text("output_micros_per_million"),
    cached_input_micros_per_million: text("cached_input_micros_per_million"),
    cache_write_micros_per_million: text("cache_write_micros_per_million"),
  };
}
