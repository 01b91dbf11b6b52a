import type { ComponentChildren } from "preact";
import { credits, percent } from "./format.js";
import { fill, texts } from "./texts.js";

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly held: number;
  /** `null`: unlimited, and without a bar. */
  readonly limit: number | null;
  /** What of the limit was given on top: the bar has a mark where that begins. */
  readonly bonus?: number;
  /** What stands below, such as when it is full again. */
  readonly children?: ComponentChildren;
  /** It is what ends first. */
  readonly isFirst?: boolean;
  readonly badge?: ComponentChildren;
}

/** How much of a limit is used, and what calls in progress hold of it. */
export function Meter({ label, used, held, limit, bonus = 0, children, isFirst, badge }: MeterProps) {
  const left = limit === null ? null : Math.max(0, limit - used);
  const part = limit === null || limit === 0 ? (limit === 0 ? 1 : 0) : used / limit;
  const tone = part >= 1 ? "danger" : part >= 0.8 ? "warning" : "";
  const state = part >= 1 ? texts.meterFull : part >= 0.8 ? texts.meterNear : "";
  return (
    <div class={`meter ${tone} ${isFirst ? "first" : ""}`}>
      <div class="row">
        <span class="label">{label}</span>
        {badge}
        {state && <span class="state">{state}</span>}
      </div>
      <p class="figure">{left === null ? texts.unlimited : fill(texts.meterLeft, { left: credits(left) })}</p>
      {limit !== null && <Bar {...{ label, used, held, limit, bonus, part }} />}
      <div class="row muted">
        <span>
          {limit === null
            ? credits(used)
            : `${fill(texts.meterUsed, { used: credits(used), limit: credits(limit) })} · ${percent(part)}`}
          {held > 0 && ` · ${fill(texts.meterHeld, { held: credits(held) })}`}
        </span>
        {children && <span>{children}</span>}
      </div>
    </div>
  );
}

interface BarProps {
  readonly label: string;
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  readonly bonus?: number;
}

/** The bar alone, for rows of tables. */
export function Bar({ label, used, held, limit, bonus = 0 }: BarProps) {
  const share = (amount: number) => (limit === 0 ? 100 : Math.max(0, Math.min(100, (amount / limit) * 100)));
  const usedShare = share(used);
  const heldShare = Math.min(100 - usedShare, share(held));
  const text = fill(texts.meterUsed, { used: credits(used), limit: credits(limit) });
  return (
    <div
      class="bar"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(limit, used)}
      aria-valuetext={held > 0 ? `${text}, ${fill(texts.meterHeld, { held: credits(held) })}` : text}
    >
      <svg width="100%" height="8" aria-hidden="true">
        <rect class="used" width={`${usedShare}%`} height="8" />
        <rect class="held" x={`${usedShare}%`} width={`${heldShare}%`} height="8" />
        {bonus > 0 && bonus < limit && <rect class="mark" x={`${share(limit - bonus)}%`} width="2" height="8" />}
      </svg>
    </div>
  );
}
