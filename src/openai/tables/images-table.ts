import { ProtocolTable, type Row, words } from "../../model-api/tables/protocol-table.js";

const otherAmounts: Row = {
  place: "member",
  treatment: "refused",
  names: words(`
    width height aspect_ratio resolution image_size megapixels num_images num_outputs num_images_per_prompt
    num_outputs_per_prompt number_of_images number_of_results n_images n_samples num_samples samples sample_count n_iter
    batch_size batch_count upscale upscale_factor step steps num_inference_steps frame_count num_frames frames fps
    frame_duration_ms duration seconds complexity svg candidate_count`),
  why: "chooses another number, another size or another effort than the price is for",
  advice: "Send 'n', 'size' and 'quality'.",
};

/** Frames of a GIF are as many images, and an SVG is written by another model. */
const otherFormats: Row = {
  place: "member",
  treatment: "refused",
  names: ["output_format"],
  why: "asks for several frames or for what another model writes, at a price of its own",
  advice: "Send 'png', 'jpeg' or 'webp'.",
  neutral: ['"png"', '"jpeg"', '"jpg"', '"webp"'],
};

/** What a request for images may hold, at OpenAI and at the servers that speak its API. */
export const imagesTable = new ProtocolTable(
  {
    protocol: "images/generations",
    reference: 'OpenAI, "Create image" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    // Of an image, and no way to fetch a response later.
    own: ["background"],
    isClosed: true,
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model prompt n size quality stream partial_images response_format output_compression background
        moderation style user metadata safety_identifier
        negative_prompt seed guidance guidance_scale cfg_scale`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    otherAmounts,
    otherFormats,
    {
      place: "member",
      treatment: "refused",
      names: words(`
        image images image_url image_urls image_prompt image_data mask mask_image reference_image reference_images ref_image
        ref_images input_image input_images input_reference init_image init_images source_image control_image file files`),
      why: "is an image that would be edited, at a price of its own",
      advice: "Leave it out.",
    },
  ],
);

/** What a request for edits of images may hold. */
export const imageEditsTable = new ProtocolTable(
  {
    protocol: "images/edits",
    reference: 'OpenAI, "Create image edit" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    own: ["background"],
    isClosed: true,
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model prompt image images mask n size quality stream partial_images response_format
        output_compression background moderation input_fidelity style user metadata safety_identifier
        negative_prompt seed guidance guidance_scale cfg_scale strength`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    otherAmounts,
    otherFormats,
    {
      place: "member",
      treatment: "refused",
      names: words(`
        image_url image_urls image_prompt image_data mask_image reference_image reference_images ref_image ref_images
        input_image input_images input_reference init_image init_images source_image control_image markup file files file_id`),
      why: "is an image beside those that are counted",
      advice: "Send 'image[]' in a form, or 'images' in JSON.",
    },
  ],
);
