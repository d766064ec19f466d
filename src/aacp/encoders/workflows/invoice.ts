import { defineWorkflow } from '../define-workflow.js';
import { actor, amount, CURRENCY, SUPPLIER, step, text } from '../inputs.js';

const AMOUNT = amount('the amount', { example: 4200 });
const TERMS = text('the terms of payment', { default: 'net30' });

/** Processes an invoice in three steps. */
export const InvoiceEncoder = defineWorkflow({
  name: 'InvoiceEncoder',
  alias: 'invoice',
  summary: 'Invoices: check, pay, log.',
  steps: {
    process_invoice: step(
      ['PROC', 'FIN', 'FIN-Agent', 2],
      'Check an invoice against its order, and schedule the payment.',
      {
        supplier: SUPPLIER,
        amount: AMOUNT,
        currency: CURRENCY,
        purchase_order: text('the purchase order', { example: 'PO-441' }),
        terms: TERMS,
      },
      [
        ['res', 'invoice'],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['match', '{purchase_order}'],
        ['terms', '{terms}'],
        ['req', 'validate,schedule_pay'],
      ],
    ),
    schedule_payment: step(
      ['PROC', 'FIN', 'FIN-Agent', 2],
      'Schedule the payment of an invoice.',
      { supplier: SUPPLIER, amount: AMOUNT, currency: CURRENCY, terms: TERMS },
      [
        ['res', 'bank_transfer'],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['terms', '{terms}'],
        ['req', 'schedule,confirm'],
      ],
    ),
    log_invoice: step(
      ['LOG', 'FIN', 'AUD-Agent', 3],
      'Log an invoice.',
      {
        invoice_ref: text('the number of the invoice', { example: 'INV-9921' }),
        supplier: SUPPLIER,
        amount: AMOUNT,
        currency: CURRENCY,
        status: text('the outcome', { default: 'ok' }),
        actor: actor('FIN-Agent'),
      },
      [
        ['filter', ['inv={invoice_ref}']],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['status', '{status}'],
        ['actor', '{actor}'],
      ],
    ),
  },
});
