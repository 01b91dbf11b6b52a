import type { ComponentChildren } from "preact";
import { texts } from "./texts.js";

/** What has failed, for all to hear. */
export function Alert({ error }: { readonly error: Error | undefined }) {
  return error === undefined ? null : (
    <p class="notice danger" role="alert">
      {error.message || texts.failed}
    </p>
  );
}

interface NoticeProps {
  readonly tone?: "danger" | "warning";
  readonly children: ComponentChildren;
}

/** Something that the reader should know before all else. */
export function Notice({ tone, children }: NoticeProps) {
  return <div class={`notice ${tone ?? ""}`}>{children}</div>;
}

/** Stands where there is nothing yet, and says how something gets there. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** Keeps the place of what is being loaded. */
export function Skeleton({ height = 160 }: { readonly height?: number }) {
  return (
    <div class="skeleton" style={{ height }}>
      <span class="hidden">{texts.loading}</span>
    </div>
  );
}

/** A state in a word, with a colour beside it. */
export function Badge({
  tone,
  children,
}: {
  readonly tone?: "good" | "warning" | "danger";
  readonly children: string;
}) {
  return <span class={`badge ${tone ?? ""}`}>{children}</span>;
}
