import type { ModelPrice } from "@beckon/client";
import { EllipsisVertical, Pencil, Plus, Trash2 } from "lucide-react";
import { useWorkspace } from "../data/index.ts";
import { Badge, type Column, IconButton, Menu, type MenuItem, menuColumn } from "../ui/index.ts";
import { originTexts } from "./origins.ts";
import { Rate } from "./rate.tsx";
import { CallPrice, type RateName, Rates, TierRates } from "./rates.tsx";

/** An action on a price that opens a dialog. The URL contains the name of the action. */
export type PriceAct = "set" | "delete";

/**
 * Returns the columns of the table of prices.
 * @param isNarrow whether only one column fits
 */
export function priceColumns(
  isNarrow: boolean,
  onAct: (price: ModelPrice, act: PriceAct) => void,
): readonly Column<ModelPrice>[] {
  const model: Column<ModelPrice> = {
    id: "model",
    header: "Model",
    cell: (price) => (
      <span className="flex min-w-0 flex-col">
        <bdi className="truncate font-mono text-dense" title={price.model}>
          {price.model}
        </bdi>
        {isNarrow ? <Rates price={price} /> : <CallPrice price={price.current} />}
      </span>
    ),
  };
  const menu = menuColumn<ModelPrice>((price) => (
    <PriceMenu price={price} onAct={(act) => onAct(price, act)} />
  ));
  if (isNarrow) return [model, menu];
  return [
    model,
    {
      id: "origin",
      header: "Price from",
      width: 120,
      cell: ({ current }) =>
        current === null ? (
          <Badge tone="brass">Unknown</Badge>
        ) : (
          <span title={originTexts[current.origin].hint}>{originTexts[current.origin].label}</span>
        ),
    },
    rate("input", "Input", "input_micros_per_million"),
    rate("cached", "From cache", "cached_input_micros_per_million", "lg"),
    rate("written", "To cache", "cache_write_micros_per_million", "lg"),
    rate("output", "Output", "output_micros_per_million"),
    menu,
  ];
}

function rate(
  id: string,
  header: string,
  name: RateName,
  from?: Column<ModelPrice>["from"],
): Column<ModelPrice> {
  return {
    id,
    header,
    width: 136,
    from,
    align: "end",
    cell: ({ current }) => (
      <span className="flex min-w-0 flex-col items-end">
        <Rate micros={current?.[name]} isKnown={current !== null} />
        <TierRates tiers={current?.tiers ?? []} name={name} />
      </span>
    ),
  };
}

interface PriceMenuProps {
  readonly price: ModelPrice;
  readonly onAct: (act: PriceAct) => void;
}

function PriceMenu({ price, onAct }: PriceMenuProps) {
  const { whyNot } = useWorkspace();
  const label = `More about the price of ${price.model}`;
  const disabledReason =
    price.provider_id === null
      ? "Only the operator of Beckon sets the price of this model."
      : whyNot("limits:write");
  const change: MenuItem =
    price.id === null
      ? { label: "Set price", icon: Plus, onSelect: () => onAct("set"), disabledReason }
      : { label: "Change price", icon: Pencil, onSelect: () => onAct("set"), disabledReason };
  const remove: readonly MenuItem[] =
    price.id === null
      ? []
      : [
          "separator",
          {
            label: "Delete price",
            icon: Trash2,
            danger: true,
            onSelect: () => onAct("delete"),
            disabledReason,
          },
        ];
  return (
    <span className="relative z-1 inline-flex align-middle">
      <Menu
        label={label}
        trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
        items={[change, ...remove]}
      />
    </span>
  );
}
