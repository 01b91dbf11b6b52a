import type { ComponentChildren } from "preact";
import { credits, percent } from "./format.js";
import { fill, texts } from "./texts.js";

interface MeterProps {
  readonly label: string;
  /** Whose it is, where that is not in the label: for screen readers. */
  readonly of?: string;
  readonly used: number;
  readonly held: number;
  /** `null`: unlimited, and without a bar. */
  readonly limit: number | null;
  /** What is left. Default: by the limit. `null`: all one wants. */
  readonly left?: number | null;
  /** What of the limit was given on top: the bar has a mark where that begins. */
  readonly bonus?: number;
  /** Stands beside the label. */
  readonly badge?: ComponentChildren;
  /** What stands below, such as when it is full again. */
  readonly children?: ComponentChildren;
  /** One of many: without the large figure. */
  readonly isSmall?: boolean;
}

const near = 0.8;

/** How much of a limit is used, and what calls in progress hold of it. */
export function Meter({ label, of, used, held, limit, bonus = 0, badge, children, isSmall, ...given }: MeterProps) {
  const left = given.left ?? (limit === null ? null : Math.max(0, limit - used));
  const part = limit === null ? 0 : limit === 0 ? 1 : used / limit;
  const tone = part >= 1 ? "danger" : part >= near ? "warning" : "";
  const state = part >= 1 ? texts.meterFull : part >= near ? texts.meterNear : "";
  const figure = left === null ? texts.unlimited : fill(texts.meterLeft, { left: credits(left) });
  return (
    <div class={`meter ${tone}`}>
      <div class="row">
        <span class="label">{label}</span>
        {badge}
        {state && <span class="state">{state}</span>}
      </div>
      {!isSmall && <p class="figure">{figure}</p>}
      {limit !== null && <Bar label={of === undefined ? label : `${label}, ${of}`} {...{ used, held, limit, bonus }} />}
      <p class="muted dots">
        {limit === null
          ? left === null && <span>{fill(texts.meterFree, { used: credits(used) })}</span>
          : [usedText(used, limit), percent(part)].map((text) => <span key={text}>{text}</span>)}
        {held > 0 && <span>{fill(texts.meterHeld, { held: credits(held) })}</span>}
        {children}
      </p>
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
  const text = usedText(used, limit);
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

function usedText(used: number, limit: number): string {
  return fill(texts.meterUsed, { used: credits(used), limit: credits(limit) });
}
