import { defineWorkflow } from '../define-workflow.js';
import { actor, amount, CURRENCY, SUPPLIER, text } from '../inputs.js';

const AMOUNT = amount('the amount', { example: 4200 });
const TERMS = text('the terms of payment', { default: 'net30' });

/** An invoice in three steps. */
export const InvoiceEncoder = defineWorkflow({
  name: 'InvoiceEncoder',
  alias: 'invoice',
  summary: 'Invoices: check, pay, log.',
  steps: {
    process_invoice: {
      summary: 'Check an invoice against its order, and schedule the payment.',
      task: 'PROC',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 2,
      inputs: {
        supplier: SUPPLIER,
        amount: AMOUNT,
        currency: CURRENCY,
        purchase_order: text('the purchase order', { example: 'PO-441' }),
        terms: TERMS,
      },
      fields: [
        ['res', 'invoice'],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['match', '{purchase_order}'],
        ['terms', '{terms}'],
        ['req', 'validate,schedule_pay'],
      ],
    },
    schedule_payment: {
      summary: 'Schedule the payment of an invoice.',
      task: 'PROC',
      domain: 'FIN',
      returnAgent: 'FIN-Agent',
      priority: 2,
      inputs: { supplier: SUPPLIER, amount: AMOUNT, currency: CURRENCY, terms: TERMS },
      fields: [
        ['res', 'bank_transfer'],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['terms', '{terms}'],
        ['req', 'schedule,confirm'],
      ],
    },
    log_invoice: {
      summary: 'Log an invoice.',
      task: 'LOG',
      domain: 'FIN',
      returnAgent: 'AUD-Agent',
      priority: 3,
      inputs: {
        invoice_ref: text('the number of the invoice', { example: 'INV-9921' }),
        supplier: SUPPLIER,
        amount: AMOUNT,
        currency: CURRENCY,
        status: text('how it ended', { default: 'ok' }),
        actor: actor('FIN-Agent'),
      },
      fields: [
        ['filter', ['inv={invoice_ref}']],
        ['amt', '{amount}'],
        ['ccy', '{currency}'],
        ['sup', '{supplier}'],
        ['status', '{status}'],
        ['actor', '{actor}'],
      ],
    },
  },
});
