export { readDollars, type TypedDollars, writeDollars } from "./dollars.ts";
export { formatDuration } from "./duration.ts";
export { firstLine, shortenId } from "./ellipsis.ts";
export { isUnchecked } from "./is-unchecked.ts";
export { formatMoney, formatPrice, moneyBeside } from "./money.ts";
export {
  formatBytes,
  formatCount,
  formatCounted,
  formatPercent,
  formatRange,
  formatShortCount,
  formatTokens,
} from "./quantity.ts";
export { shellArgument } from "./shell-argument.ts";
export {
  formatAsOf,
  formatClock,
  formatDate,
  formatExact,
  formatTime,
  knownZone,
} from "./time.ts";
export { withLineFeeds } from "./with-line-feeds.ts";
export { fromZoned, startOfDay, toZoned } from "./zoned.ts";
