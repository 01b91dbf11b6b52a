import { useState } from "preact/hooks";
import { compact } from "./format.js";

/** What is drawn in one colour: a value for each period. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  /** Which colour it has. Default: that of its place. */
  readonly color?: number;
}

interface ChartProps {
  /** What the chart shows, in a sentence for screen readers. The figures are in a table beside it. */
  readonly label: string;
  /** Of each bar: as its axis has it, and in full. */
  readonly periods: readonly { readonly short: string; readonly full: string }[];
  /** The largest first, 6 at most: there are as many colours. */
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

const mostLabels = 6;

/** Stacked bars over time. */
export function Chart({ label, periods, series, format }: ChartProps) {
  const [shown, setShown] = useState<number>();
  const totals = periods.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const ticks = ticksFor(Math.max(0, ...totals));
  const top = ticks.at(-1) ?? 1;
  const every = Math.ceil(periods.length / mostLabels);
  const at = (event: PointerEvent & { currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setShown(Math.max(0, Math.min(periods.length - 1, Math.floor(((event.clientX - left) / width) * periods.length))));
  };
  return (
    <div class="chart">
      <ul class="legend">
        {series.map(({ name, color }, index) => (
          <li key={name}>
            <i class={`color${color ?? index}`} />
            {name}
          </li>
        ))}
      </ul>
      <div class="plot">
        {ticks.map((tick) => (
          <div key={tick} class="tick" style={{ bottom: `${(tick / top) * 100}%` }}>
            <span>{compact(tick)}</span>
          </div>
        ))}
        <svg
          role="img"
          aria-label={label}
          width="100%"
          height="100%"
          viewBox={`0 0 ${periods.length} 1`}
          preserveAspectRatio="none"
          onPointerMove={at}
          onPointerLeave={() => setShown(undefined)}
        >
          {shown !== undefined && <rect class="hover" x={shown} width={1} height={1} />}
          {periods.map((_, index) => (
            <Stack key={index} index={index} top={top} series={series} />
          ))}
        </svg>
        {shown !== undefined && (
          <Tip {...{ shown, periods, series, format, total: totals[shown] ?? 0, count: periods.length }} />
        )}
      </div>
      <div class="axis" aria-hidden="true">
        {periods.map(({ short }, index) =>
          index % every === 0 ? (
            <span key={short} style={{ left: `${((index + 0.5) / periods.length) * 100}%` }}>
              {short}
            </span>
          ) : null,
        )}
      </div>
    </div>
  );
}

function Stack({ index, top, series }: { index: number; top: number; series: readonly Series[] }) {
  let height = 0;
  return (
    <g>
      {series.map(({ name, values, color }, place) => {
        const part = (values[index] ?? 0) / top;
        height += part;
        return part === 0 ? null : (
          <rect
            key={name}
            class={`color${color ?? place}`}
            x={index + 0.14}
            width={0.72}
            y={1 - height}
            height={part}
          />
        );
      })}
    </g>
  );
}

interface TipProps extends Pick<ChartProps, "periods" | "series" | "format"> {
  readonly shown: number;
  readonly total: number;
}

/** What a bar is made of, beside the pointer. */
function Tip({ shown, periods, series, format, total }: TipProps) {
  const place = (shown + 0.5) / periods.length;
  const side = place > 0.5 ? { right: `${(1 - place) * 100}%` } : { left: `${place * 100}%` };
  return (
    <div class="tip" aria-hidden="true" style={side}>
      <strong>{periods[shown]?.full}</strong>
      {series.map(({ name, values, color }, index) =>
        values[shown] ? (
          <div key={name} class="row">
            <span>
              <i class={`color${color ?? index}`} /> {name}
            </span>
            <span>{format(values[shown])}</span>
          </div>
        ) : null,
      )}
      <div class="row">
        <span>Σ</span>
        <strong>{format(total)}</strong>
      </div>
    </div>
  );
}

/** Round values from 0 to at least the largest, up to 5 of them. */
export function ticksFor(largest: number): number[] {
  if (largest <= 0) return [0, 1];
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const count = Math.max(1, Math.ceil(largest / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
