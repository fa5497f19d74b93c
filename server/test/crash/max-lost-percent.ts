/**
 * Returns an upper bound, in percent, of the share of runs that Beckon loses if no acknowledged run
 * was lost. It has three decimals and is rounded up. The bound follows from the rule of three: an
 * event that did not occur in n trials has a probability below 3/n, with 95 % confidence.
 */
export const maxLostPercent = (acknowledged: number): string =>
  (Math.ceil(300_000 / acknowledged) / 1_000).toFixed(3);
