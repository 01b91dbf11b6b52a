export default function Page() {
  return <p>An app like yours. The gateway is under /api/ai/v1.</p>;
}
